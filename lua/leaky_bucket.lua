-- Leaky bucket as a queue: an early demand waits for its turn, as in src/rules/leaky_bucket.cpp.
local function admissible_units(policy, state)
  local max_delay = policy.max_delay
  if state.us < max_delay or state.us == max_delay and state.fraction == 0 then
    return units_left(policy, state)
  end
  return 0
end

-- The time until a demand of `cost` is admitted.
local function wait_for(policy, state, cost)
  local us, fraction = span_of(policy, policy.capacity - cost)
  if us >= policy.max_delay then us, fraction = policy.max_delay, 0 end
  return wait_until(policy, state, us, fraction)
end

rules[6] = {
  parse = function(policy, numbers, i)
    policy.max_delay = numbers[i] + 0
    return i + 1
  end,
  read = read_arrival,
  write = write_arrival,
  charge = advance,

  admit = function(policy, state, now, cost)
    local left = admissible_units(policy, state)
    if cost == 0 then return 0, 0 end
    local delay = state.fraction > 0 and state.us + 1 or state.us
    if cost <= left then return cost, delay end
    if policy.overdraft then return left, delay end
    if cost > policy.capacity then return nil, -1 end
    return nil, wait_for(policy, state, cost)
  end,

  level = function(policy, state)
    local left = admissible_units(policy, state)
    local reset = state.fraction > 0 and state.us + 1 or state.us
    if left >= policy.capacity then return left, reset, 0 end
    return left, reset, wait_for(policy, state, left + 1)
  end,
}
