-- Token bucket: the tokens that are missing, as in src/rules/token_bucket.cpp.

-- The time until `tokens` more than in `state` are available.
local function grows_in(policy, state, tokens)
  local us, fraction = span_of(policy, tokens)
  return us - floor((state.remainder - fraction) / policy.count)
end

rules[4] = {
  -- The present bucket, within the bounds of a policy that a reload may have changed.
  read = function(policy)
    local at, expires, used, remainder = read_value(policy)
    local state = {
      at = at,
      expires = expires,
      used = min(used, policy.capacity),
      remainder = min(remainder, policy.per - 1),
    }
    local elapsed = clock - at
    if elapsed <= 0 then return state end
    if state.used == 0 or elapsed >= grows_in(policy, state, state.used) then
      state.used, state.remainder = 0, 0
      return state
    end
    local grown
    grown, state.remainder = divide_product(elapsed, policy.count, state.remainder,
                                            policy.interval, policy.remainder, policy.per)
    state.used = state.used - grown
    return state
  end,

  write = function(policy, state, now)
    local whole_at = now + grows_in(policy, state, state.used)
    write_value(policy, state, now, whole_at, state.used, state.remainder)
  end,

  charge = function(policy, state, units)
    state.used = min(state.used + units, policy.capacity)
  end,

  admit = function(policy, state, now, cost)
    local tokens = policy.capacity - state.used
    if cost <= tokens then return cost, 0 end
    if policy.overdraft then return tokens, 0 end
    if cost > policy.capacity then return nil, -1 end
    return nil, grows_in(policy, state, cost - tokens)
  end,

  level = function(policy, state)
    if state.used == 0 then return policy.capacity, 0, 0 end
    return policy.capacity - state.used, grows_in(policy, state, state.used),
           grows_in(policy, state, 1)
  end,
}
