-- The rest of held_claims.lua: settles the numbers of the fields, asks the claims, takes or holds
-- their units, and answers.

for _, held in ipairs(keys) do
  if held.own then apply_own(held, held.is_free) end
  repay(held)
end

-- Ask. Each claim on one key is asked as if the earlier ones had been taken.
local admitted = 1
if not settles then
  for _, claim in ipairs(claims) do
    local policy, held = claim.policy, claim.held
    local rule = policy.rule
    if claim.is_fixed then
      claim.units, claim.wait = rule.admit()
    else
      if held.is_shared and not held.expected then
        held.expected = {policy = held.policy, state = copied(held.state), now = held.now,
                         units = held.units, debt = held.debt, idle_from = held.idle_from}
      end
      local expected = held.expected or held
      claim.units, claim.wait = admit_beside(expected, policy, claim.cost)
      if claim.units and held.expected then
        if claim.holds then
          expected.units = min(expected.units + claim.units, exact_limit)
        else
          take(expected, claim.units, policy)
        end
      end
    end
    if not claim.units and not policy.shadow then admitted = 0 end
  end
end

-- Settle: takes or holds the units of the allowed claims if the request is admitted, else charges
-- those with count_rejected.
for _, claim in ipairs(claims) do
  local held = claim.held
  claim.taken = 0
  if settles or claim.is_fixed then
  elseif claim.units and admitted == 1 then
    if claim.holds then
      local field = held.own.field
      held.units, field.taken = held.units + claim.units, field.taken + claim.units
      claim.taken = claim.units
    else
      take(held, claim.units, claim.policy)
    end
  elseif claim.policy.count_rejected then
    take(held, claim.cost, claim.policy)
  end
end
for _, held in ipairs(keys) do
  if held.is_charged then held.policy.rule.write(held.policy, held.state, held.now) end
end
for _, held in ipairs(keys) do
  if held.own or held.is_repaid or held.is_charged or #held.removed > 0 then write_holds(held) end
end

-- Answer.
if settles then
  local answer = ''
  for _, claim in ipairs(claims) do
    local held = claim.held
    answer = answer .. struct.pack('<dd', held.own.lost, held.ended)
  end
  return answer
end
local answer = struct.pack('<d', admitted)
for _, claim in ipairs(claims) do
  local held, policy = claim.held, claim.policy
  local delay, retry, allowed, is_beside, others = claim.wait, -1, 1, 0, 0
  if not claim.units then
    delay, retry, allowed = 0, claim.wait, 0
  elseif policy.count_rejected and admitted == 0 then
    local units, wait = admit_beside(held, policy, claim.cost)
    if not units then retry = wait end
  end
  local remaining, reset, more
  if claim.is_fixed then
    remaining, reset, more = policy.rule.level()
  else
    remaining, reset, more = level_beside(held, policy)
    if held.units > 0 or held.debt > 0 then is_beside = 1 end
    if held.debt == 0 or (claim.cost == 0 and not held.own) then
      local field = held.own and held.own.field
      others = max(held.units - (field and field.taken - field.released or 0), 0)
    end
    if not held.is_charged and not is_concurrency(policy) then
      outlive(policy, held.state, held.now, whole_from(held) - held.now)
    end
  end
  local lost = held.own and held.own.lost or 0
  answer = answer .. struct.pack('<ddddddddddd', allowed, remaining, reset, more, delay, retry,
                                 claim.taken, is_beside, others, lost, held.ended)
  if held.own then held.own.lost = 0 end
  held.ended = 0
end
if is_overridden then
  for _, claim in ipairs(claims) do
    answer = answer .. struct.pack('<dddd', unpack(claim.policy.override or {0, 0, 0, 0}))
  end
end
return answer
