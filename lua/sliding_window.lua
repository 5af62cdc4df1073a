-- Sliding window: counters for tenths of each tier's window, as in src/rules/sliding_window.cpp.
--
-- A tier is {count, per, length, share} of the policy; its counters are the numbers 0 (the newest
-- sub-window) to 10 (the oldest) of a table of the state.
local sub_windows = 10
local tier_format, tier_bytes = '<dI4I4I4I4I4I4I4I4I4I4I4', 52

local function add_units(counters, age, units)
  counters[age] = min(counters[age] + units, 67108864)
end

local function no_counters()
  return {[0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
end

-- Counters of another sub-window length, after a reload: each moves to the sub-window of its last
-- instant.
local function relaid(old, old_length, latest, length)
  local counters = no_counters()
  local old_newest, newest = floor(latest / old_length), floor(latest / length)
  for age = 0, sub_windows do
    local old_end = (old_newest - age + 1) * old_length
    local behind = newest - floor(min(old_end - 1, latest) / length)
    if behind > sub_windows then break end
    add_units(counters, behind, old[age])
  end
  return counters
end

-- The counters `passed` sub-windows later.
local function shifted(old, passed)
  local counters = no_counters()
  for age = passed, sub_windows do counters[age] = old[age - passed] end
  return counters
end

-- The part of the oldest sub-window that no longer counts.
local function forgiven(tier, counters, latest)
  local oldest, length = counters[sub_windows], tier.length
  if oldest == 0 then return 0 end
  local left = divide_product(latest % length, oldest, 0, floor(length / oldest), length % oldest,
                              length)
  return min(left, tier.share)
end

local function sum_of(counters)
  local sum = 0
  for age = 0, sub_windows do sum = sum + counters[age] end
  return sum
end

-- The first instant at which at most `units` of the tier still count. Walks from the oldest
-- sub-window on. May be in the past.
local function tier_falls_to(tier, counters, latest, units)
  local excess, length = sum_of(counters) - units, tier.length
  local age = sub_windows
  while age >= 0 and excess > 0 do
    local held = counters[age]
    if held >= excess then
      local leaving = (floor(latest / length) - age + sub_windows) * length
      if excess > tier.share then return leaving + length end
      local part = length % held
      return leaving + excess * ((length - part) / held) - floor(-(excess * part) / held)
    end
    excess, age = excess - held, age - 1
  end
  return 0
end

-- The first instant at which at most count - `room` units count in each tier, or 0 without `room`.
local function all_fall_to(policy, state, now, room)
  local at = now
  for i, tier in ipairs(policy.tiers) do
    at = max(at, tier_falls_to(tier, state.tiers[i], now, room and tier.count - room or 0))
  end
  return at
end

local function window_left(policy, state, now)
  local left = policy.capacity
  for i, tier in ipairs(policy.tiers) do
    local counters = state.tiers[i]
    left = min(left, tier.count - sum_of(counters) + forgiven(tier, counters, now))
  end
  return max(left, 0)
end

rules[2] = {
  parse = function(policy, numbers, i)
    local tiers, last = {}, i + 2 * (numbers[i] - 1)
    local count, per = policy.count, policy.per
    while true do
      tiers[#tiers + 1] = {
        count = count, length = per / sub_windows, share = -floor(-count / sub_windows),
      }
      if i >= last then break end
      count, per = numbers[i + 1] + 0, numbers[i + 2] + 0
      i = i + 2
    end
    policy.tiers = tiers
    return i + 1
  end,

  -- The present tiers, in sub-windows of the policy's length.
  read = function(policy)
    local state = {at = 0, expires = 0, tiers = {}}
    local value = redis.pcall('GET', policy.key)
    if type(value) ~= 'string' or value:byte() ~= policy.mark or (#value - 17) % tier_bytes ~= 0 then
      value = ''
    else
      state.at, state.expires = struct.unpack('<dd', value, 2)
    end
    local now = max(clock, state.at)
    for i, tier in ipairs(policy.tiers) do
      local counters = no_counters()
      local from = 18 + (i - 1) * tier_bytes
      if from < #value then
        local length
        length, counters[0], counters[1], counters[2], counters[3], counters[4], counters[5],
          counters[6], counters[7], counters[8], counters[9], counters[10] =
          struct.unpack(tier_format, value, from)
        if length ~= tier.length then counters = relaid(counters, length, state.at, tier.length) end
        local passed = floor(now / tier.length) - floor(state.at / tier.length)
        if passed > 0 then counters = shifted(counters, passed) end
      end
      state.tiers[i] = counters
    end
    return state
  end,

  write = function(policy, state, now)
    local expires = extended(state.expires, now, all_fall_to(policy, state, now))
    local value = struct.pack('<Bdd', policy.mark, now, expires or state.expires)
    for i, tier in ipairs(policy.tiers) do
      local c = state.tiers[i]
      value = value .. struct.pack(tier_format, tier.length, c[0], c[1], c[2], c[3], c[4], c[5],
                                   c[6], c[7], c[8], c[9], c[10])
    end
    set_value(policy.key, value, expires)
  end,

  charge = function(policy, state, units)
    for _, counters in ipairs(state.tiers) do add_units(counters, 0, min(units, policy.capacity)) end
  end,

  admit = function(policy, state, now, cost)
    local left = window_left(policy, state, now)
    if cost <= left then return cost, 0 end
    if policy.overdraft then return left, 0 end
    if cost > policy.capacity then return nil, -1 end
    return nil, all_fall_to(policy, state, now, cost) - now
  end,

  level = function(policy, state, now)
    local left = window_left(policy, state, now)
    local reset = all_fall_to(policy, state, now) - now
    if left >= policy.capacity then return left, reset, 0 end
    return left, reset, all_fall_to(policy, state, now, left + 1) - now
  end,
}
