-- Sliding log: the time of each admitted request, as in src/rules/sliding_log.cpp.
--
-- A sorted set: the score is the instant, the member the running total and the units, both of a
-- fixed width, so that members are unique and those of one instant are in order. The count is the
-- newest total less the one before the first entry in the window: no entries are summed or returned.
local function entry_of(found)
  if not found[1] then return end
  local total, units = string.match(found[1], '^(%d+) (%d+)$')
  if total then return {at = found[2] + 0, total = total + 0, units = units + 0} end
end

-- At most the newest `quota` units count. With count_rejected more may be in the window.
local function used_in_log(policy, state)
  if not state.first then return 0 end
  return min(state.total - state.first.total + state.first.units, policy.capacity)
end

-- The log after this call: the stored entries, then the new ones.
local function entry_at(policy, state, rank)
  if rank < state.stored then
    rank = string.format('%.0f', rank)
    return entry_of(redis.call('ZRANGE', policy.key, rank, rank, 'WITHSCORES'))
  end
  local new = state.entries[rank - state.stored + 1]
  return {at = new.at, total = new.total}
end

-- The first instant at which at most `units` of the log still count. Usually the first or the last
-- entry leaves then; otherwise a binary search by rank, because totals ascend.
local function log_falls_to(policy, state, units)
  local gone = state.total - units
  if state.first.total >= gone then return state.first.at + policy.per end
  if state.last.total - state.last.units < gone then return state.last.at + policy.per end
  state.stored = state.stored or redis.call('ZCARD', policy.key)
  local low, high = 0, state.stored + #state.entries - 1
  while low < high do
    local middle = floor((low + high) / 2)
    if entry_at(policy, state, middle).total >= gone then
      high = middle
    else
      low = middle + 1
    end
  end
  return entry_at(policy, state, low).at + policy.per
end

-- The first instant at which a denied `cost` passes. With count_rejected this denial is logged too,
-- and has to leave first if both do not fit together.
local function log_passes_at(policy, state, now, cost)
  local most = policy.capacity - cost
  if policy.count_rejected then most = most - cost end
  if most < 0 then return now + policy.per end
  return log_falls_to(policy, state, most)
end

rules[3] = {
  read = function(policy)
    local key = policy.key
    local found = redis.pcall('ZRANGE', key, '-1', '-1', 'WITHSCORES')
    local last = entry_of(found)
    local state = {at = 0, total = 0, entries = {}}
    if not last then
      -- All other members are removed, also those of another format.
      state.stored, state.begins = 0, found.err or found[1] ~= nil
      return state
    end
    state.at, state.total, state.last = last.at, last.total, last
    local out = max(clock, last.at) - policy.per
    if last.at > out then
      local after = string.format('(%.0f', out)
      state.first = entry_of(
        redis.call('ZRANGEBYSCORE', key, after, '+inf', 'WITHSCORES', 'LIMIT', '0', '1'))
    end
    state.begins = not state.first
    return state
  end,

  -- A log whose entries have all expired is unlinked at once. Otherwise each new entry removes a few
  -- expired ones, so that no call removes many.
  write = function(policy, state, now)
    local key = policy.key
    if state.begins then
      redis.call('UNLINK', key)
    elseif state.first ~= state.entries[1] then
      local dead = redis.call('ZCOUNT', key, '-inf', string.format('%.0f', now - policy.per))
      local surplus = redis.call('ZCARD', key) - policy.capacity
      dead = min(max(dead, surplus), 16)
      if dead > 0 then redis.call('ZREMRANGEBYRANK', key, '0', string.format('%.0f', dead - 1)) end
    end
    local added = {}
    for i, entry in ipairs(state.entries) do
      added[2 * i - 1] = string.format('%.0f', entry.at)
      added[2 * i] = string.format('%016.0f %016.0f', entry.total, entry.units)
    end
    redis.call('ZADD', key, unpack(added))
    redis.call('PEXPIRE', key, ttl_until(now + policy.per))
    state.entries, state.stored = {}, nil
  end,

  charge = function(policy, state, units, now)
    state.total = state.total + min(units, policy.capacity)
    state.last = {at = now, total = state.total, units = min(units, policy.capacity)}
    state.first = state.first or state.last
    state.entries[#state.entries + 1] = state.last
  end,

  admit = function(policy, state, now, cost)
    local left = policy.capacity - used_in_log(policy, state)
    if cost <= left then return cost, 0 end
    if policy.overdraft then return left, 0 end
    if cost > policy.capacity then return nil, -1 end
    return nil, log_passes_at(policy, state, now, cost) - now
  end,

  level = function(policy, state, now)
    local used = used_in_log(policy, state)
    if used == 0 then return policy.capacity, 0, 0 end
    return policy.capacity - used, state.last.at + policy.per - now,
           log_falls_to(policy, state, used - 1) - now
  end,
}
