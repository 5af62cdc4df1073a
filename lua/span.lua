-- Exact durations for rates that do not divide, as in src/rules/span.hpp: a span is two numbers,
-- us + fraction / count microseconds, 0 <= fraction < count.
--
-- Numbers are doubles. Each intermediate is a whole number below 2^53 (docs/algorithms.md), so sums
-- and products are exact, and so are floor(a / b) and a % b, for any sign of a.
local floor, max, min = math.floor, math.max, math.min

local function subtract(us, fraction, other_us, other_fraction, count)
  fraction = fraction - other_fraction
  if fraction >= 0 then return us - other_us, fraction end
  return us - other_us - 1, fraction + count
end

-- The time in which the rate emits `units`, 0 <= units <= capacity.
local function span_of(policy, units)
  local whole = units * policy.interval
  if policy.remainder == 0 then return whole, 0 end
  local count = policy.count
  local parts = units * policy.remainder
  return whole + floor(parts / count), parts % count
end

-- (value * count + carry) divided by per, where per = interval * count + remainder, without the
-- product value * count; see span.hpp.
local function divide_product(value, count, carry, interval, remainder, per)
  local a = interval == 0 and 0 or floor(value / interval)
  local rest = (value - a * interval) * count + carry - a * remainder
  local correction = floor(rest / per)
  return a + correction, rest - correction * per
end
