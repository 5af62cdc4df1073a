-- Attributed window: a fixed window whose count is a list of the requests counted, as in
-- src/rules/attributed_window.cpp.
--
-- An entry is text in parts separated by tabs: the instant, the units, the units used up to and
-- including it, the start of the window, and the attributes. A decision needs the last entry only.
rules[1] = {
  parse = function(policy, numbers, i)
    policy.attributes = policy.attributes or numbers[i]
    return i + 1
  end,

  read = function(policy)
    local last = redis.pcall('LINDEX', policy.key, '-1')
    local at, used, start
    if type(last) == 'string' then
      at, used, start = string.match(last, '^(%d+)\t%d+\t(%d+)\t(%d+)\t')
    end
    if not at then return {at = 0, start = 0, used = 0, absent = last == false} end
    return {at = at + 0, start = start + 0, used = used + 0}
  end,

  -- The list of a new window begins empty, as does one that replaces a foreign value.
  write = function(policy, state)
    if state.begins then redis.call('UNLINK', policy.key) end
    redis.call('RPUSH', policy.key, unpack(state.entries))
    redis.call('PEXPIRE', policy.key, ttl_until(window_end(policy, state.start)))
    state.entries, state.begins = nil, false
  end,

  charge = function(policy, state, units, now)
    local used = used_in_window(policy, state, now)
    local taken = min(units, policy.capacity - used)
    if taken <= 0 then return end
    if used == 0 then
      state.start = window_start(policy, now)
      state.begins = not state.absent
    end
    state.used, state.entries = used, state.entries or {}
    -- An entry for each text of a settlement (holds.lua), until the units are used up.
    for _, text in ipairs(policy.texts or {{taken, policy.attributes}}) do
      local part = min(text[1], taken)
      taken = taken - part
      if part > 0 then
        state.used = state.used + part
        state.entries[#state.entries + 1] = string.format(
          '%.0f\t%.0f\t%.0f\t%.0f\t%s', now, part, state.used, state.start, text[2])
      end
    end
  end,
  admit = admit_in_window,
  level = level_of_window,
}
