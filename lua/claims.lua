-- All claims of one request: each is asked, then all are charged or none. As in
-- src/store/asked.cpp, with the single thread of the server in place of locks.

local function admission(claim, leader)
  return claim.rule.admit(claim.policy, leader.state, leader.now, claim.cost)
end

local function read(leader)
  leader.state = leader.rule.read(leader.policy)
  leader.now = max(clock, leader.state.at)
end

local function charge(claim, leader, units)
  claim.rule.charge(claim.policy, leader.state, units, leader.now)
end

-- The first claim on this claim's key, which has the state.
local function leader_of(claim, claims, before)
  for i = 1, before do
    if claims[i].policy.key == claim.policy.key then return claims[i].leader or claims[i] end
  end
end

-- Each claim on one key is asked as if the earlier ones had been charged.
local function join(claim, leader)
  if not leader.chained then
    leader.chained = true
    if leader.units then charge(leader, leader, leader.units) end
  end
  claim.leader = leader
  claim.units, claim.wait = admission(claim, leader)
  if claim.units then charge(claim, leader, claim.units) end
end

-- Ask.
local claims, admitted, argument = {}, 1, first_argument
local overrides, is_overridden = {}, false
for i = 1, claim_count do
  local claim = {cost = ARGV[argument + 1] + 0}
  claim.policy, argument = policy_of(KEYS[first_key + 2 * i - 2], argument)
  local overrides_key = KEYS[first_key + 2 * i - 1]
  local text = overrides[overrides_key]
  if text == nil then
    text = redis.pcall('GET', overrides_key)
    overrides[overrides_key] = text
  end
  if text or claim.policy.exempt then
    apply_override(claim.policy, text, overrides_key)
    is_overridden = is_overridden or claim.policy.override
  end
  claim.rule = claim.policy.rule
  local leader = i > 1 and leader_of(claim, claims, i - 1)
  if leader then
    join(claim, leader)
  else
    read(claim)
    claim.units, claim.wait = admission(claim, claim)
  end
  if not claim.units and not claim.policy.shadow then admitted = 0 end
  claims[i] = claim
end

-- Settle: charges the allowed claims if the request is admitted, else those with count_rejected.
for _, claim in ipairs(claims) do
  if claim.chained then read(claim) end
  local leader = claim.leader or claim
  local units = 0
  if claim.units and admitted == 1 then
    units = claim.units
  elseif claim.policy.count_rejected then
    units = claim.cost
    local repeats = admitted == 0 and claim.policy.repeats
    if repeats and units > 0 then
      charge(claim, leader, repeats * units)
      claim.units, claim.wait = admission(claim, leader)
    end
  end
  if units > 0 then
    charge(claim, leader, units)
    leader.charged = true
  end
end
for _, claim in ipairs(claims) do
  if claim.charged then claim.rule.write(claim.policy, claim.state, claim.now) end
end

-- Answer.
local answer = struct.pack('<d', admitted)
for _, claim in ipairs(claims) do
  local leader = claim.leader or claim
  local delay, retry, allowed = claim.wait, -1, 1
  if not claim.units then
    delay, retry, allowed = 0, claim.wait, 0
  elseif claim.policy.count_rejected and admitted == 0 then
    -- Charged although another claim denied: the next such request may have to wait here too.
    local units, wait = admission(claim, leader)
    if not units then retry = wait end
  end
  local remaining, reset, more = claim.rule.level(claim.policy, leader.state, leader.now)
  if not leader.charged then outlive(claim.policy, leader.state, leader.now, reset) end
  answer = answer .. struct.pack('<dddddd', allowed, remaining, reset, more, delay, retry)
end
if is_overridden then
  for _, claim in ipairs(claims) do
    answer = answer .. struct.pack('<dddd', unpack(claim.policy.override or {0, 0, 0, 0}))
  end
end
return answer
