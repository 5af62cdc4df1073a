-- All claims of one request: every one is asked, then all are charged or none. As
-- src/store/asked.cpp, with the server's one thread in place of locks.
--
-- KEYS: the claims' keys, in their order. ARGV, for each claim: its algorithm, plus 8 for a shadow
-- policy, 16 for overdraft, 32 for count_rejected, 64 for windows aligned to the clock; the cost;
-- the capacity; count and per of the rate; and what the algorithm's `parse` takes.
--
-- Returns doubles in one string: 1 if the request is admitted, and for each claim: allowed,
-- remaining, reset_after, more_after, delay, retry_after (-1: none), all of them microseconds.
-- Packed, because an array of numbers costs the server and the client twice as much.

-- Fields are what the rules call policy; a claim whose key an earlier one has shares its state.
local function claim_of(key, form, cost)
  local count, per = ARGV[argument + 4] + 0, ARGV[argument + 5] + 0
  local remainder = per % count
  local claim = {
    key = key, rule = rules[form % 8], cost = cost, capacity = ARGV[argument + 3] + 0,
    count = count, per = per, interval = (per - remainder) / count, remainder = remainder,
    state = false, now = 0, units = false, wait = 0,
  }
  argument = argument + 5
  if form >= 8 then
    claim.shadow = form % 16 >= 8
    claim.overdraft = form % 32 >= 16
    claim.count_rejected = form % 64 >= 32
    claim.aligned = form >= 64
  end
  if claim.rule.parse then claim.rule.parse(claim) end
  return claim
end

local function admission(claim, leader)
  return claim.rule.admit(claim, leader.state, leader.now, claim.cost)
end

local function read(leader)
  leader.state = leader.rule.read(leader)
  leader.now = max(clock, leader.state.at)
end

-- The claim that came first on this claim's key: it has the state.
local function leader_of(claim, claims, before)
  for i = 1, before do
    if claims[i].key == claim.key then return claims[i].leader or claims[i] end
  end
end

-- Claims of a chain on one key are each asked as if those before had been charged.
local function join(claim, leader)
  if not leader.chained then
    leader.chained = true
    if leader.units then leader.rule.charge(leader, leader.state, leader.units, leader.now) end
  end
  claim.leader = leader
  claim.units, claim.wait = admission(claim, leader)
  if claim.units then claim.rule.charge(claim, leader.state, claim.units, leader.now) end
end

-- Ask.
local claims, admitted = {}, 1
for i, key in ipairs(KEYS) do
  local claim = claim_of(key, ARGV[argument + 1] + 0, ARGV[argument + 2] + 0)
  local leader = i > 1 and leader_of(claim, claims, i - 1)
  if leader then
    join(claim, leader)
  else
    read(claim)
    claim.units, claim.wait = admission(claim, claim)
  end
  if not claim.units and not claim.shadow then admitted = 0 end
  claims[i] = claim
end

-- Settle: what was admitted if the request was, and what counts though rejected.
for _, claim in ipairs(claims) do
  if claim.chained then read(claim) end
  local leader = claim.leader or claim
  local units = 0
  if claim.units and admitted == 1 then
    units = claim.units
  elseif claim.count_rejected then
    units = claim.cost
  end
  if units > 0 then
    claim.rule.charge(claim, leader.state, units, leader.now)
    leader.charged = true
  end
end
for _, claim in ipairs(claims) do
  if claim.charged then claim.rule.write(claim, claim.state, claim.now) end
end

-- Answer.
local answer = struct.pack('<d', admitted)
for _, claim in ipairs(claims) do
  local leader = claim.leader or claim
  local delay, retry, allowed = claim.wait, -1, 1
  if not claim.units then
    delay, retry, allowed = 0, claim.wait, 0
  elseif claim.count_rejected and admitted == 0 then
    -- Counted because another claim denied: the same request may now have to wait here, too.
    local units, wait = admission(claim, leader)
    if not units then retry = wait end
  end
  local remaining, reset, more = claim.rule.level(claim, leader.state, leader.now)
  answer = answer .. struct.pack('<dddddd', allowed, remaining, reset, more, delay, retry)
end
return answer
