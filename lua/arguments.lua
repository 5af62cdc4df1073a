-- The script's arguments, and the table of its rules.
--
-- KEYS: for each claim, in their order, its key and that of its identity's overrides
-- (overrides.lua). ARGV, for each claim: its form, the cost, the capacity,
-- count and per of the rate, and the arguments that the algorithm's `parse` reads. The form is the
-- algorithm, plus 8 for a shadow policy, 16 for overdraft, 32 for count_rejected and 64 for windows
-- aligned to the clock. It also adds 128 for an exempt claim (only an override limits it), and 256
-- for each further request with the same claims, which is rejected with this one.
--
-- Returns doubles in one string: 1 if the request is admitted, and for each claim: allowed,
-- remaining, reset_after, more_after, delay, retry_after (-1: none), all of them microseconds. If
-- there is an override for any of them, for each claim the four numbers of policy.override follow.
-- Packed, because an array of numbers costs the server and the client twice as much CPU time.
--
-- Each call creates its functions again, which is a large part of its cost. So there are few of
-- them, and a call with one claim does not create those for several.

-- The rules by number of their algorithm (rules::Algorithm). src/rules/rules.hpp has the same:
--   parse(policy, numbers, i)       takes further arguments from numbers[i] on, returns the next i;
--                                   optional
--   read(policy)                    the key's present state
--   admit(policy, state, now, cost) units to charge and the delay, or nil and retry_after
--   charge(policy, state, units, now)  takes units, in the script's memory
--   write(policy, state, now)       keeps the state in Redis, with a TTL that covers its recovery
--   level(policy, state, now)       remaining, reset_after, more_after
local rules = {}

-- The policy of the claim whose arguments begin at ARGV[i], and the index of the next claim's.
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
    policy.aligned = form % 128 >= 64
    policy.exempt = form % 256 >= 128
    if form >= 256 then policy.repeats = math.floor(form / 256) end
  end
  local parse = policy.rule.parse
  return policy, parse and parse(policy, ARGV, i + 5) or i + 5
end
