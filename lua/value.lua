-- Keys whose state is one string: the algorithm's mark, the latest instant charged at, the instant
-- at which the key expires, and what the algorithm keeps. Doubles, because packing them costs a
-- tenth of what writing and reading decimals does.
--
-- Setting a TTL costs more than all else of a write. So it is set with a reserve, and as long as it
-- covers recovery the next writes keep it.
local reserve_us = 60000000

-- A foreign value, or another algorithm's, is as none.
local function read_value(policy)
  local value = redis.pcall('GET', policy.key)
  if type(value) == 'string' and #value == 33 then
    local found, at, expires, first, second = struct.unpack('<Bdddd', value)
    if found == policy.mark then return at, expires, first, second end
  end
  return 0, 0, 0, 0
end

-- When a key that is whole at `whole_at` will expire; nil if it will late enough as it is.
local function extended(expires, now, whole_at)
  if whole_at > expires then return whole_at + min(whole_at - now, reserve_us) end
end

-- Milliseconds from the clock to an instant, as what PX and PEXPIRE take.
local function ttl_until(at)
  return string.format('%.0f', floor((at - clock) / 1000) + ttl_margin)
end

local function set_value(key, value, expires)
  if expires then
    redis.call('SET', key, value, 'PX', ttl_until(expires))
  else
    redis.call('SET', key, value, 'KEEPTTL')
  end
end

-- For a key that nothing is charged to: under a policy that has been lengthened it is whole later
-- than its TTL covers, and a client that is only denied would have it end early. What it keeps
-- stays as it was. If memory has run out, the denial is answered all the same.
local function outlive(policy, state, now, reset)
  if reset == 0 then return end
  local key, whole_at = policy.key, now + reset
  if not state.expires then
    if redis.call('PTTL', key) < floor((whole_at - clock) / 1000) then
      redis.call('PEXPIRE', key, ttl_until(whole_at))
    end
    return
  end
  local expires = extended(state.expires, now, whole_at)
  if not expires then return end
  local value = redis.call('GET', key)
  value = value:sub(1, 9) .. struct.pack('<d', expires) .. value:sub(18)
  redis.pcall('SET', key, value, 'PX', ttl_until(expires))
end

local function write_value(policy, state, now, whole_at, first, second)
  local expires = extended(state.expires, now, whole_at)
  local value =
    struct.pack('<Bdddd', policy.mark, now, expires or state.expires, first, second)
  set_value(policy.key, value, expires)
end
