-- Gives units back that were charged before, as give_back() in src/rules/holds.hpp: they reduce a
-- debt, then what is used. Only a call with a refund creates these functions.
if has_refunds then
  -- By mark. Each returns whether the state has changed and is to be written.
  local refunds = {}

  refunds[160] = function(held, units)
    local used = used_in_window(held.policy, held.state, held.now)
    held.state.used = max(used - units, 0)
    return used > 0
  end

  refunds[164] = function(held, units)
    local state = held.state
    if state.used == 0 then return false end
    state.used = max(state.used - units, 0)
    if state.used == 0 then state.remainder = 0 end
    return true
  end

  refunds[165] = function(held, units)
    local policy, state = held.policy, held.state
    if state.us == 0 and state.fraction == 0 then return false end
    local us, fraction = span_of(policy, min(units, policy.capacity))
    us, fraction = subtract(state.us, state.fraction, us, fraction, policy.count)
    if us < 0 then us, fraction = 0, 0 end
    state.us, state.fraction = us, fraction
    return true
  end
  refunds[166] = refunds[165]

  refunds[162] = function(held, units)
    local has_changed = false
    for i, tier in ipairs(held.policy.tiers) do
      local counters = held.state.tiers[i]
      local function used() return sum_of(counters) - forgiven(tier, counters, held.now) end
      local rest = min(units, used())
      has_changed = has_changed or rest > 0
      for age = 0, sub_windows - 1 do
        local taken = min(rest, counters[age])
        counters[age], rest = counters[age] - taken, rest - taken
      end
      local content = counters[sub_windows]
      local taken = max(min(rest, content - tier.share - 1), 0)
      content, rest = content - taken, rest - taken
      counters[sub_windows] = content
      if rest > 0 then
        -- The largest content of which `goal` units count.
        local goal, low, high = used() - rest, 0, content
        while low < high do
          local middle = floor((low + high + 1) / 2)
          counters[sub_windows] = middle
          if used() <= goal then low = middle else high = middle - 1 end
        end
        counters[sub_windows] = low
      end
    end
    return has_changed
  end

  -- Changes a list at once: writes pending charges first, and reads the state again afterwards.
  local function change_list(held, change)
    local rule, policy = held.policy.rule, held.policy
    if held.is_charged then
      rule.write(policy, held.state, held.now)
      held.state, held.is_charged = rule.read(policy), false
    end
    change(policy, held.state)
    held.state = rule.read(policy)
    return false
  end

  -- Entries are numbered from 0, as in Redis.
  local function index_text(i) return string.format('%.0f', i) end

  -- Removes the newest entries of an attributed window until `left` units are used.
  local function cut_window(policy, left)
    local key = policy.key
    local low, high = 0, redis.call('LLEN', key) - 1
    while low < high do
      local middle = floor((low + high) / 2)
      local text = redis.call('LINDEX', key, index_text(middle))
      if string.match(text, '^%d+\t%d+\t(%d+)\t') + 0 >= left then
        high = middle
      else
        low = middle + 1
      end
    end
    local text = redis.call('LINDEX', key, index_text(low))
    local at, units, used, rest = string.match(text, '^(%d+)\t(%d+)\t(%d+)(\t.*)$')
    local entry = string.format('%s\t%.0f\t%.0f', at, units - (used - left), left) .. rest
    redis.call('LSET', key, index_text(low), entry)
    redis.call('LTRIM', key, '0', index_text(low))
  end

  refunds[161] = function(held, units)
    local used = used_in_window(held.policy, held.state, held.now)
    if used == 0 then return false end
    return change_list(held, function(policy)
      if units >= used then redis.call('UNLINK', policy.key) else cut_window(policy, used - units) end
    end)
  end

  -- Removes the entries of a log up to the total `before`, and those above `total`. With
  -- count_rejected the window may have more than the quota: the first entry then keeps a part.
  local function cut_log(policy, state, before, total)
    local function find(goal)
      local chunk, index = state.front, state.dead
      local _, last = entry_of(chunk, 0)
      if last < goal then chunk, index = find_chunk(policy, state, 2, goal) end
      return chunk, index, entry_in(chunk, 2, goal)
    end
    local key = policy.key
    local front, from, first = find(before + 1)
    local back, to, last = find(total)
    local at = entry_of(back, last)
    back = back:sub(1, chunk_head + 16 * last - 16) .. struct.pack('<dd', at, total)
    if before > state.before then
      if from == to then front = back end
      front = struct.pack('<Bd', policy.mark, before) .. front:sub(chunk_head + 16 * first - 15)
      if from == to then back = front else redis.call('LSET', key, index_text(from), front) end
    end
    redis.call('LSET', key, index_text(to), back)
    redis.call('LTRIM', key, index_text(from), index_text(to))
  end

  refunds[163] = function(held, units)
    local used = used_in_log(held.policy, held.state)
    if used == 0 then return false end
    return change_list(held, function(policy, state)
      if units >= used then
        redis.call('UNLINK', policy.key)
      else
        cut_log(policy, state, state.total - used, state.total - units)
      end
    end)
  end

  for _, held in ipairs(keys) do
    local units = held.own and held.own.refund
    if units and not held.is_free and not is_concurrency(held.policy) then
      repay(held)
      local owed = min(units, held.debt)
      if owed > 0 then
        held.debt, held.is_repaid = held.debt - owed, true
        if held.debt == 0 then held.idle_from = 0 end
      end
      if units > owed and refunds[held.policy.mark](held, units - owed) then
        held.is_charged = true
      end
    end
  end
end

