-- All claims of one request, as claims.lua, beside the holds of their keys; or settlements. Reads
-- them; held_decisions.lua does the rest.
--
-- KEYS: for each claim its key, that of its identity's overrides, and that of its holds.
-- ARGV, for each claim:
--   0 if it holds nothing, 1 if its units are held, 2 for a settlement; 3 and 4: the same as 1 and 2,
--     for a field whose lease cannot have ended; 5 to 8: the same as 1 to 4, with a refund
--   after 1 to 8, eight arguments of the caller's field (own_from() in holds.lua)
--   after 5 to 8, the units to give back
--   the arguments of arguments.lua
-- All entries are settlements, or none.
--
-- Returns doubles in one string, in the form of arguments.lua, with five more for each claim:
--   the units that it holds from now on
--   1 if holds or a debt affect its decision
--   units that others than the caller's field hold; 0 while there is a debt, unless the claim only
--     looks
--   units of the caller that outlived their lease
--   units of other fields whose lease has ended
-- For settlements it returns only the last two.

-- A state with its tables.
local function copied(state)
  local copy = {}
  for name, value in pairs(state) do copy[name] = type(value) == 'table' and copied(value) or value end
  return copy
end

local function read_held(claim, rule, counts, holds_key)
  local policy = claim.policy
  if claim.is_fixed then
    local fixed = policy
    policy = {}
    for name, value in pairs(fixed) do policy[name] = value end
    policy.rule, policy.count_rejected = rule, counts
  end
  local held = {policy = policy, holds_key = holds_key, state = rule.read(policy)}
  held.now = max(clock, held.state.at)
  read_holds(held)
  return held
end

local claims, keys, argument = {}, {}, 1
local overrides, is_overridden, settles, has_refunds = {}, false, false, false
for i = 1, #KEYS / 3 do
  local kind, own = ARGV[argument], nil
  argument = argument + 1
  if kind ~= '0' then
    own = own_from(argument)
    argument = argument + 8
    if kind > '4' then
      own.refund, has_refunds = ARGV[argument] + 0, true
      kind, argument = string.format('%.0f', kind - 4), argument + 1
    end
    own.has_lease = kind >= '3'
  end
  local claim = {holds = kind == '1' or kind == '3', cost = ARGV[argument + 1] + 0}
  settles = kind == '2' or kind == '4'
  claim.policy, argument = policy_of(KEYS[3 * i - 2], argument)
  local rule, counts = claim.policy.rule, claim.policy.count_rejected
  local overrides_key = KEYS[3 * i - 1]
  local text = overrides[overrides_key]
  if text == nil then
    text = redis.pcall('GET', overrides_key)
    overrides[overrides_key] = text
  end
  if text or claim.policy.exempt then
    apply_override(claim.policy, text, overrides_key)
    is_overridden = is_overridden or claim.policy.override
    claim.is_fixed = claim.policy.rule ~= rule
  end
  local holds_key = KEYS[3 * i]
  local held = keys[holds_key]
  if held then
    held.is_shared = true
  else
    held = read_held(claim, rule, counts, holds_key)
    held.is_free = claim.policy.override and claim.policy.override[1] == 2
    keys[holds_key], keys[#keys + 1] = held, held
  end
  held.own = held.own or own
  claim.held = held
  claims[i] = claim
end

for _, held in ipairs(keys) do end_expired(held) end
