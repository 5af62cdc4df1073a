-- The begin and end of fixed windows, as in src/rules/window.hpp.
local function window_start(policy, now)
  if not policy.aligned then return now end
  return now - now % policy.per
end

-- A start that is not aligned under a changed policy belongs to the aligned window around it.
local function window_end(policy, start)
  return window_start(policy, start) + policy.per
end

local function used_in_window(policy, state, now)
  if state.used > 0 and now < window_end(policy, state.start) then return state.used end
  return 0
end

local function admit_in_window(policy, state, now, cost)
  local left = policy.capacity - min(used_in_window(policy, state, now), policy.capacity)
  if cost <= left then return cost, 0 end
  if policy.overdraft then return left, 0 end
  if cost > policy.capacity then return nil, -1 end
  return nil, window_end(policy, state.start) - now
end

local function level_of_window(policy, state, now)
  local used = used_in_window(policy, state, now)
  if used == 0 then return policy.capacity, 0, 0 end
  local rest = window_end(policy, state.start) - now
  return policy.capacity - min(used, policy.capacity), rest, rest
end
