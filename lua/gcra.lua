-- GCRA: the limit as one instant, as in src/rules/gcra.cpp.
rules[5] = {
  read = read_arrival,
  write = write_arrival,
  charge = advance,

  admit = function(policy, state, now, cost)
    local left = units_left(policy, state)
    if cost <= left then return cost, 0 end
    if policy.overdraft then return left, 0 end
    if cost > policy.capacity then return nil, -1 end
    return nil, wait_until(policy, state, span_of(policy, policy.capacity - cost))
  end,

  level = function(policy, state)
    local left = units_left(policy, state)
    local reset = state.fraction > 0 and state.us + 1 or state.us
    if left >= policy.capacity then return left, reset, 0 end
    return left, reset, wait_until(policy, state, span_of(policy, policy.capacity - left - 1))
  end,
}
