-- Sliding log: the time of each admitted request, as in src/rules/sliding_log.cpp.
--
-- A list of chunks, so that an entry takes 16 bytes and a charge writes one chunk. A chunk is one
-- string: the algorithm's mark, the total before it, and up to 64 entries, each an instant and the
-- running total, in time order, one for each instant. The count is the newest total less the one
-- before the first entry in the window. An entry is found by searching chunks, then within one:
-- both instants and totals ascend, so no call reads more chunks than twice the binary logarithm of
-- their number.
local chunk_entries, chunk_head = 64, 9

-- The instant and the total of an entry, from 1 on. An index of 0 is the last.
local function entry_of(chunk, i)
  return struct.unpack('<dd', chunk, i > 0 and chunk_head + 16 * i - 15 or #chunk - 15)
end

local function total_before(chunk, i)
  if i == 1 then return (struct.unpack('<d', chunk, 2)) end
  return (struct.unpack('<d', chunk, chunk_head + 16 * i - 23))
end

-- The first entry of the chunk whose value is at least `goal`. Value 1: the instant, 2: the total.
local function entry_in(chunk, value, goal)
  local low, high = 1, (#chunk - chunk_head) / 16
  local offset = chunk_head + 8 * value - 23
  while low < high do
    local middle = floor((low + high) / 2)
    if struct.unpack('<d', chunk, offset + 16 * middle) >= goal then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- The first stored chunk with such an entry, and its index, if it is neither in the chunk `state`
-- begins with nor in the last one. Guesses by proportion and halves in turn.
local function find_chunk(policy, state, value, goal)
  local from, to = {entry_of(state.front, 0)}, {entry_of(state.back, 0)}
  local low, high = state.dead + 1, redis.call('LLEN', policy.key) - 1
  local low_value, high_value, found, halves = from[value], to[value], state.back, false
  while low < high do
    local guess = floor((low + high) / 2)
    if not halves then
      guess = low + floor((high - low) * (goal - low_value) / (high_value - low_value))
      guess = max(low, min(guess, high - 1))
    end
    halves = not halves
    local chunk = redis.call('LINDEX', policy.key, string.format('%.0f', guess))
    local last = {entry_of(chunk, 0)}
    if last[value] >= goal then
      local first = {entry_of(chunk, 1)}
      if first[value] < goal then return chunk, guess end
      high, high_value, found = guess, last[value], chunk
    else
      low, low_value = guess + 1, last[value]
    end
  end
  return found, high
end

-- The log begins with this entry: those before it do not count any more.
local function begin_log_at(state, chunk, index, i)
  state.front, state.dead, state.first = chunk, index, i
  state.first_at, state.first_total = entry_of(chunk, i)
  state.before = total_before(chunk, i)
end

-- At most the newest `quota` units count. With count_rejected more may be in the window.
local function used_in_log(policy, state)
  return min(state.total - state.before, policy.capacity)
end

-- The first instant at which at most `units` of the log still count: when the first entry with this
-- total leaves.
local function log_falls_to(policy, state, units)
  local goal = state.total - units
  if goal > state.last_before then return state.last_at + policy.per end
  if goal <= state.first_total then return state.first_at + policy.per end
  local chunk = state.front
  local _, total = entry_of(chunk, 0)
  if total < goal then chunk = find_chunk(policy, state, 2, goal) end
  return entry_of(chunk, entry_in(chunk, 2, goal)) + policy.per
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
    local state = {at = 0, total = 0, before = 0, last_before = 0}
    local back = redis.pcall('LINDEX', key, '-1')
    if type(back) ~= 'string' or back:byte() ~= policy.mark or (#back - chunk_head) % 16 ~= 0 then
      state.begins = back ~= false -- a foreign value is removed
      return state
    end
    local at, total = entry_of(back, 0)
    local out = max(clock, at) - policy.per
    state.at = at
    state.begins = at <= out
    if state.begins then return state end
    state.back, state.last_at, state.total = back, at, total
    state.last_before = total_before(back, (#back - chunk_head) / 16)
    local front, dead = redis.call('LINDEX', key, '0'), 0
    if entry_of(front, 0) <= out then
      state.front, state.dead = front, 0
      front, dead = find_chunk(policy, state, 1, out + 1)
    end
    begin_log_at(state, front, dead, entry_in(front, 1, out + 1))
    return state
  end,

  -- Removes chunks of which nothing counts any more, and appends the last entry.
  write = function(policy, state, now)
    local key = policy.key
    local goal = state.total - policy.capacity + 1
    if state.back and goal > state.last_before then
      -- Only the last entry is left. Totals start again, so that they stay exact.
      state.total, state.last_before = state.total - state.last_before, 0
      state.begins, state.back = true, nil
    elseif state.back and goal > state.first_total then
      local chunk, index = state.front, state.dead
      local _, total = entry_of(chunk, 0)
      if total < goal then chunk, index = find_chunk(policy, state, 2, goal) end
      begin_log_at(state, chunk, index, entry_in(chunk, 2, goal))
    end

    local entry, back = struct.pack('<dd', state.last_at, state.total), state.back
    if state.begins then
      redis.call('UNLINK', key)
    elseif back and state.dead > 0 then
      redis.call('LTRIM', key, string.format('%.0f', state.dead), '-1')
    end
    if not back or state.appends and #back >= chunk_head + 16 * chunk_entries then
      state.back = struct.pack('<Bd', policy.mark, state.last_before) .. entry
      redis.call('RPUSH', key, state.back)
    else
      state.back = (state.appends and back or back:sub(1, -17)) .. entry
      redis.call('LSET', key, '-1', state.back)
      if state.front == back then state.front = state.back end
    end
    if not back then begin_log_at(state, state.back, 0, 1) end
    state.dead, state.begins, state.appends = 0, false, false
    redis.call('PEXPIRE', key, ttl_until(now + policy.per))
  end,

  -- The charges of one call are one entry.
  charge = function(policy, state, units, now)
    if state.last_at ~= now then
      state.last_at, state.last_before, state.appends = now, state.total, true
    end
    state.total = state.total + min(units, policy.capacity)
    if not state.front then state.first_at, state.first_total = now, state.total end
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
    return policy.capacity - used, state.last_at + policy.per - now,
           log_falls_to(policy, state, used - 1) - now
  end,
}
