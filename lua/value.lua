-- Keys whose state is one string: the algorithm's mark, the latest instant charged at, the instant
-- at which the key expires, and the algorithm's numbers. Doubles, because packing them takes a tenth
-- of the time of decimals.
--
-- Setting the TTL is the most expensive part of a write. So it is set with a reserve, and later
-- writes keep it as long as it covers the recovery.
local reserve_us = 60000000

-- A foreign value, or one of another algorithm, counts as absent.
local function read_value(policy)
  local value = redis.pcall('GET', policy.key)
  if type(value) == 'string' and #value == 33 then
    local found, at, expires, first, second = struct.unpack('<Bdddd', value)
    if found == policy.mark then return at, expires, first, second end
  end
  return 0, 0, 0, 0
end

-- The new expiry of a key that is whole at `whole_at`; nil if its present one is late enough.
local function extended(expires, now, whole_at)
  if whole_at > expires then return whole_at + min(whole_at - now, reserve_us) end
end

-- Milliseconds from the clock to an instant, for PX and PEXPIRE.
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

-- For a key without a charge: under a lengthened policy it is whole later than its TTL covers, and
-- would expire early for a client that is only denied. Its value does not change. If memory has run
-- out, the denial is returned without the new TTL.
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
