-- Concurrency: at most `capacity` units at the same time, as in src/rules/concurrency.cpp. The state
-- is empty: all units in use are held (holds.lua), and the key itself is never written.
rules[7] = {
  read = function() return {at = 0, expires = 0} end,
  write = function() end,
  charge = function() end,

  admit = function(policy, state, now, cost)
    if cost <= policy.capacity then return cost, 0 end
    if policy.overdraft then return policy.capacity, 0 end
    return nil, -1
  end,

  level = function(policy) return policy.capacity, 0, 0 end,
}
