-- One claim, the common case: as claims.lua, without its tables.
if not KEYS[2] then
  local policy, cost = policy_of(KEYS[1], 1), ARGV[2] + 0
  local rule = policy.rule
  local state = rule.read(policy)
  local now = max(clock, state.at)
  local units, wait = rule.admit(policy, state, now, cost)
  local due = units or policy.count_rejected and cost or 0
  if due > 0 then
    rule.charge(policy, state, due, now)
    rule.write(policy, state, now)
  end
  local remaining, reset, more = rule.level(policy, state, now)
  if due <= 0 then outlive(policy, state, now, reset) end
  if units then return struct.pack('<ddddddd', 1, 1, remaining, reset, more, wait, -1) end
  return struct.pack('<ddddddd', policy.shadow and 1 or 0, 0, remaining, reset, more, 0, wait)
end
