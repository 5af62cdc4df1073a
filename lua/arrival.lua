-- The state of gcra and leaky_bucket, as in src/rules/arrival.hpp: one instant, the theoretical
-- arrival time (TAT), as the span by which it is ahead of now.

-- The span at the key's now: under a changed policy at most one burst after the last charge.
local function read_arrival(policy)
  local at, expires, tat, fraction = read_value(policy)
  local now = max(clock, at)
  local us, most_us, most_fraction = tat - now, span_of(policy, policy.capacity)
  most_us = most_us + at - now
  if fraction >= policy.count then fraction = policy.count - 1 end
  if us > most_us or us == most_us and fraction > most_fraction then
    us, fraction = most_us, most_fraction
  end
  if us < 0 then us, fraction = 0, 0 end
  return {at = at, expires = expires, us = us, fraction = fraction}
end

local function write_arrival(policy, state, now)
  local tat = now + state.us
  local whole_at = state.fraction > 0 and tat + 1 or tat
  write_value(policy, state, now, whole_at, tat, state.fraction)
end

-- Units that fit between the TAT and the tolerance.
local function units_left(policy, state)
  local us, fraction = span_of(policy, policy.capacity)
  us, fraction = subtract(us, fraction, state.us, state.fraction, policy.count)
  if us < 0 then return 0 end
  return (divide_product(us, policy.count, fraction, policy.interval, policy.remainder, policy.per))
end

-- The time until the TAT is no more than that span ahead of now.
local function wait_until(policy, state, us, fraction)
  us, fraction = subtract(state.us, state.fraction, us, fraction, policy.count)
  return fraction > 0 and us + 1 or us
end

-- Moves the TAT on by `units`, never further ahead than the tolerance.
local function advance(policy, state, units)
  local most_us, most_fraction = span_of(policy, policy.capacity)
  local us, fraction = span_of(policy, min(units, policy.capacity))
  us, fraction = us + state.us, fraction + state.fraction
  if fraction >= policy.count then
    us, fraction = us + 1, fraction - policy.count
  end
  if us > most_us or us == most_us and fraction > most_fraction then
    us, fraction = most_us, most_fraction
  end
  state.us, state.fraction = us, fraction
end
