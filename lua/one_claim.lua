-- One claim, the common case: as claims.lua, without its tables.
if claim_count == 1 then
  local policy, cost = policy_of(KEYS[first_key], first_argument), ARGV[first_argument + 1] + 0
  local overrides = redis.pcall('GET', KEYS[first_key + 1])
  if overrides or policy.exempt then apply_override(policy, overrides, KEYS[first_key + 1]) end
  local rule = policy.rule
  local state = rule.read(policy)
  local now = max(clock, state.at)
  local units, wait = rule.admit(policy, state, now, cost)
  local due = units or policy.count_rejected and cost or 0
  if policy.repeats and not units and due > 0 then
    rule.charge(policy, state, policy.repeats * cost, now)
    units, wait = rule.admit(policy, state, now, cost)
  end
  if due > 0 then
    rule.charge(policy, state, due, now)
    rule.write(policy, state, now)
  end
  local remaining, reset, more = rule.level(policy, state, now)
  if due <= 0 then outlive(policy, state, now, reset) end
  local answer
  if units then
    answer = struct.pack('<ddddddd', 1, 1, remaining, reset, more, wait, -1)
  else
    answer = struct.pack('<ddddddd', policy.shadow and 1 or 0, 0, remaining, reset, more, 0, wait)
  end
  if policy.override then answer = answer .. struct.pack('<dddd', unpack(policy.override)) end
  return answer
end
