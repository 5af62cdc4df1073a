-- What the script is asked, and the table of its rules.
--
-- KEYS: the claims' keys, in their order. ARGV, for each claim: its algorithm, plus 8 for a shadow
-- policy, 16 for overdraft, 32 for count_rejected, 64 for windows aligned to the clock; the cost;
-- the capacity; count and per of the rate; and what the algorithm's `parse` takes.
--
-- Returns doubles in one string: 1 if the request is admitted, and for each claim: allowed,
-- remaining, reset_after, more_after, delay, retry_after (-1: none), all of them microseconds.
-- Packed, because an array of numbers costs the server and the client twice as much.
--
-- Functions are made anew in each call, which is a good part of its price: there are no more than
-- needed, and those for several claims are not made for one.

-- By the number of an algorithm (rules::Algorithm), as src/rules/rules.hpp has them:
--   parse(policy, i)                takes further arguments from ARGV[i] on, returns the next i;
--                                   optional
--   read(policy)                    the key's state, as it is now
--   admit(policy, state, now, cost) units to charge and the delay, or nil and retry_after
--   charge(policy, state, units, now)  takes units, in the script's memory
--   write(policy, state, now)       keeps the state in Redis, with a TTL that covers its recovery
--   level(policy, state, now)       remaining, reset_after, more_after
local rules = {}

-- The claim whose arguments begin at ARGV[i]: its policy, and where the next one's begin.
local function policy_of(key, i)
  local form = ARGV[i] + 0
  local algorithm = form % 8
  local count, per = ARGV[i + 3] + 0, ARGV[i + 4] + 0
  local remainder = per % count
  local policy = {
    key = key,
    rule = rules[algorithm],
    mark = 160 + algorithm,
    capacity = ARGV[i + 2] + 0,
    count = count,
    per = per,
    interval = (per - remainder) / count,
    remainder = remainder,
  }
  if form >= 8 then
    policy.shadow = form % 16 >= 8
    policy.overdraft = form % 32 >= 16
    policy.count_rejected = form % 64 >= 32
    policy.aligned = form >= 64
  end
  local parse = policy.rule.parse
  return policy, parse and parse(policy, i + 5) or i + 5
end
