-- Units that are held beside a state, as in src/rules/holds.hpp, and the hash that keeps them.
--
-- The hash has a field for each worker with units in flight on the key (src/redis/hold_table.hpp):
-- the units taken, released and charged so far, and the instant at which its lease ends. They are
-- doubles, as in value.lua. The field d has the debt, and the instant from which idle time pays it.
--
-- `held` below is a table: {policy, state, now, units, debt, idle_from, ...}. Its policy has the
-- rule of its algorithm, also for a client that an override exempts.
local hold_retry_us, lease_us, exact_limit = 1000000, 10000000, 9007199254740991
local longest_repayment_us = 4503599627370496

local function is_concurrency(policy) return policy.mark == 167 end
local function has_rate(policy) return policy.mark >= 164 and policy.mark <= 166 end

-- The units that are not used, holds disregarded. max_delay limits admissions, not settlements.
local function room_in(held)
  local policy = held.policy
  if policy.mark == 166 then return units_left(policy, held.state) end
  return (policy.rule.level(policy, held.state, held.now))
end

-- The instant from which the state alone is whole, not before now.
local function whole_from(held)
  local _, reset = held.policy.rule.level(held.policy, held.state, held.now)
  return held.now + reset
end

local function ceil_span_of(policy, units)
  local us, fraction = span_of(policy, units)
  return fraction > 0 and us + 1 or us
end

-- The idle time that pays one capacity.
local function round_of(policy)
  if has_rate(policy) then return ceil_span_of(policy, policy.capacity) end
  local longest = policy.per
  for _, tier in ipairs(policy.tiers or {}) do longest = max(longest, tier.length * 10) end
  return longest
end

local function time_to_pay(policy, units)
  return has_rate(policy) and ceil_span_of(policy, units) or round_of(policy)
end

local function rounds_of(policy, debt) return -floor(-debt / policy.capacity) end

-- The idle time that pays a debt, limited so that instants remain exact.
local function time_to_repay(policy, debt)
  return min(round_of(policy) * rounds_of(policy, debt), longest_repayment_us)
end

-- The units of a debt that idle time pays, and the time that they take of it.
local function paid_by_idle(policy, idle, debt)
  local round = round_of(policy)
  local rounds = floor(idle / round)
  if rounds >= rounds_of(policy, debt) then return debt, idle end
  local units, time = rounds * policy.capacity, round * rounds
  if not has_rate(policy) then return units, time end
  local more = divide_product(idle - time, policy.count, 0, policy.interval, policy.remainder,
                              policy.per)
  more = min(more, debt - units)
  return units + more, time + ceil_span_of(policy, more)
end

-- Charges the state. `policy`: that of a claim, which may have other attributes, or texts of each
-- charge (attributed_window.lua).
local function take(held, units, policy)
  if units <= 0 then return end
  policy.rule.charge(policy, held.state, units, held.now)
  held.is_charged = true
  if held.debt > 0 then held.idle_from = max(held.idle_from, whole_from(held)) end
end

local function repay(held)
  if held.debt == 0 then return end
  local idle = held.now - held.idle_from
  if idle > 0 then
    local units, time = paid_by_idle(held.policy, idle, held.debt)
    held.debt, held.idle_from = held.debt - units, held.idle_from + time
    held.is_repaid = held.is_repaid or time > 0
  end
  local units = min(held.debt, max(room_in(held) - held.units, 0))
  held.debt = held.debt - units
  held.is_repaid = held.is_repaid or units > 0
  take(held, units, held.policy)
  if held.debt == 0 then held.idle_from = 0 end
end

-- Releases units and charges the actual ones. Those without room become a debt. `texts`: nil, or those
-- of the actual ones.
local function settle_hold(held, units, actual, texts)
  local policy = held.policy
  repay(held)
  local released = max(0, min(units, held.units))
  held.units = held.units - released
  if is_concurrency(policy) then return end
  local free = max(room_in(held) - held.units, 0)
  if policy.count_rejected then free = max(free, released) end
  local charged = min(actual, free)
  policy.texts = texts
  take(held, charged, policy)
  policy.texts = nil
  if actual > charged then
    held.debt = min(held.debt + actual - charged, exact_limit)
    held.idle_from = max(held.idle_from, whole_from(held))
  end
  repay(held)
end

local function wait_beside(held, policy, cost)
  local wait = 0
  local units = min(cost + held.units, policy.capacity) + held.debt
  if units <= policy.capacity then
    local overdraft = policy.overdraft
    policy.overdraft = false
    local admitted, retry = policy.rule.admit(policy, held.state, held.now, units)
    if not admitted then wait = retry end
    policy.overdraft = overdraft
  else
    wait = max(whole_from(held), held.idle_from) - held.now +
           time_to_pay(policy, min(units - policy.capacity, policy.capacity))
  end
  return max(wait, hold_retry_us)
end

-- The state of a leaky bucket with the held units in the queue.
local function behind_holds(held, policy)
  local state = {us = held.state.us, fraction = held.state.fraction}
  advance(policy, state, held.units)
  return state
end

local function admit_beside(held, policy, cost)
  if held.units == 0 and held.debt == 0 then
    return policy.rule.admit(policy, held.state, held.now, cost)
  end
  if held.debt > 0 then
    if cost == 0 then return 0, 0 end
    if cost > policy.capacity and not policy.overdraft then return nil, -1 end
    return nil, wait_beside(held, policy, policy.overdraft and 0 or cost)
  end
  if policy.mark == 166 then
    local units, wait = policy.rule.admit(policy, behind_holds(held, policy), held.now, cost)
    if not units and wait >= 0 then wait = max(wait, hold_retry_us) end
    return units, wait
  end
  local left = max(room_in(held) - held.units, 0)
  if cost <= left then return cost, 0 end
  if policy.overdraft then return left, 0 end
  if cost > policy.capacity then return nil, -1 end
  return nil, wait_beside(held, policy, cost)
end

local function level_beside(held, policy)
  local rule = policy.rule
  if held.units == 0 and held.debt == 0 then return rule.level(policy, held.state, held.now) end
  local state = policy.mark == 166 and behind_holds(held, policy) or held.state
  local remaining, reset, more = rule.level(policy, state, held.now)
  if policy.mark ~= 166 then remaining = max(remaining - held.units, 0) end
  if held.debt > 0 then
    remaining, more = 0, wait_beside(held, policy, 1)
    reset = max(whole_from(held), held.idle_from) - held.now + time_to_repay(policy, held.debt)
  end
  more = max(more, hold_retry_us)
  return remaining, max(reset, more), more
end

-- ---- the hash ----

-- The holds of a key whose state has been read. A foreign value counts as absent.
local function read_holds(held)
  held.units, held.debt, held.idle_from, held.fields, held.removed = 0, 0, 0, {}, {}
  local all = redis.pcall('HGETALL', held.holds_key)
  if all.err then
    held.is_foreign = true
    return
  end
  for i = 1, #all, 2 do
    local name, value = all[i], all[i + 1]
    if name == 'd' and #value == 16 then
      held.debt, held.idle_from = struct.unpack('<dd', value)
      held.had_debt = true
    elseif #value == 32 then
      local taken, released, charged, expires = struct.unpack('<dddd', value)
      held.fields[name] = {taken = taken, released = released, charged = charged,
                           expires = expires, is_stored = true}
      held.units = held.units + taken - released
    end
  end
end

local function remove_field(held, name)
  if held.fields[name].is_stored then held.removed[#held.removed + 1] = name end
  held.fields[name] = nil
end

-- Ends the fields whose lease is over, except the caller's own: their units are charged, or released
-- if they are slots.
local function end_expired(held)
  local units = 0
  for name, field in pairs(held.fields) do
    if field.expires <= clock and not (held.own and held.own.names[name]) then
      units = units + field.taken - field.released
      remove_field(held, name)
    end
  end
  if units > 0 then settle_hold(held, units, units) end
  held.ended = units
end

-- The texts of the last `units` that a list has, oldest first: {units, text}, ...
local function last_texts(list, units)
  local all, last = {}, {}
  for count, text in list:gmatch('(%d+)\t([^\n]*)\n') do all[#all + 1] = {count + 0, text} end
  for i = #all, 1, -1 do
    local taken = min(all[i][1], units)
    if taken > 0 then table.insert(last, 1, {taken, all[i][2]}) end
    units = units - taken
  end
  if units > 0 then table.insert(last, 1, {units, ''}) end
  return last
end

-- The caller's totals of its field: see src/redis/hold_table.hpp.
local function own_from(i)
  local own = {
    name = ARGV[i], taken = ARGV[i + 1] + 0, sent_released = ARGV[i + 2] + 0,
    sent_charged = ARGV[i + 3] + 0, released = ARGV[i + 4] + 0, charged = ARGV[i + 5] + 0,
    formers = ARGV[i + 6], texts = ARGV[i + 7], names = {}, lost = 0,
  }
  own.names[own.name] = true
  for name in own.formers:gmatch('(%x+) %d+') do own.names[name] = true end
  return own
end

-- Brings the caller's field to its numbers, and settles the differences. A former field is replaced
-- by one with what the caller knows to be in flight. If a former field is present, no command with a
-- later one has run.
local function apply_own(held, is_free)
  local own, fields, policy = held.own, held.fields, held.policy
  local field, release, charge, is_replaced = fields[own.name], 0, 0, false
  for name, charged in own.formers:gmatch('(%x+) (%d+)') do
    local former = fields[name]
    if former then
      release = release + former.taken - former.released
      charge = charge + max(charged - former.charged, 0)
      remove_field(held, name)
      if not field then
        field = {taken = own.taken, released = 0, charged = 0}
        release = release - own.taken
        is_replaced = true
      end
    elseif is_replaced then
      charge = charge + charged
    end
  end
  if field then
    release = release + max(own.released - field.released, 0)
    charge = charge + max(own.charged - field.charged, 0)
    field.released = max(own.released, field.released)
    field.charged = max(own.charged, field.charged)
    field.taken = max(field.taken, field.released)
  elseif own.taken > own.sent_released and is_concurrency(policy) then
    -- The lease has ended, and the slots were released although they are in use.
    field = {taken = own.taken, released = own.released, charged = own.charged}
    held.units = held.units + own.taken - own.released
  else
    -- Nothing was in flight. Or the lease has ended, and what was held has been charged; or the
    -- command is repeated, and its units are settled; or the field was removed, and nothing of it has
    -- been charged.
    field = {taken = own.released, released = own.released, charged = own.charged}
    own.lost = own.taken - own.sent_released
    if own.lost == 0 or own.has_lease then charge = own.charged - own.sent_charged end
  end
  if release < 0 then held.units, release = held.units - release, 0 end
  fields[own.name], own.field = field, field
  if release > 0 or charge > 0 then
    local attributes = policy.attributes
    policy.attributes = attributes and ''
    charge = is_free and 0 or charge
    settle_hold(held, release, charge, attributes and last_texts(own.texts, charge))
    policy.attributes = attributes
  end
end

-- Commands that need memory come first: if it has run out, nothing is written.
local function write_holds(held)
  local own, key = held.own, held.holds_key
  if held.is_foreign and own then redis.call('UNLINK', key) end
  local values = {}
  if own then
    local field = own.field
    if field.taken > field.released then
      values = {own.name, struct.pack('<dddd', field.taken, field.released, field.charged,
                                      clock + lease_us)}
    else
      remove_field(held, own.name)
    end
  end
  if held.debt > 0 then
    values[#values + 1] = 'd'
    values[#values + 1] = struct.pack('<dd', held.debt, held.idle_from)
  elseif held.had_debt then
    held.removed[#held.removed + 1] = 'd'
  end
  if #values > 0 then
    redis.call('HSET', key, unpack(values))
    local ends = clock + lease_us
    if not is_concurrency(held.policy) then ends = ends + round_of(held.policy) end
    if held.debt > 0 then
      ends = max(ends, held.idle_from + time_to_repay(held.policy, held.debt))
    end
    redis.call('PEXPIRE', key, ttl_until(min(ends, exact_limit)))
  end
  if #held.removed > 0 then redis.call('HDEL', key, unpack(held.removed)) end
end
