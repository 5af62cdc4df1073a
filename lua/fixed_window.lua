-- Fixed window: one counter for each window, as in src/rules/fixed_window.cpp.
rules[0] = {
  read = function(policy)
    local at, expires, start, used = read_value(policy)
    return {at = at, expires = expires, start = start, used = used}
  end,
  write = function(policy, state, now)
    local whole_at = window_end(policy, state.start)
    write_value(policy, state, now, whole_at, state.start, state.used)
  end,

  charge = function(policy, state, units, now)
    local used = used_in_window(policy, state, now)
    if used == 0 then state.start = window_start(policy, now) end
    state.used = used + min(units, 9007199254740991 - used)
  end,
  admit = admit_in_window,
  level = level_of_window,
}
