-- How many of ARGV have been read, and the rules by the number of their algorithm
-- (rules::Algorithm): what each part below adds.
--
--   parse(claim)                  takes further arguments; optional
--   read(claim)                   the key's state, as it is now
--   admit(claim, state, now, cost)  units to charge and the delay, or nil and retry_after
--   charge(claim, state, units, now)  takes units, in the script's memory
--   write(claim, state, now)      keeps the state in Redis, with a TTL that covers its recovery
--   level(claim, state, now)      remaining, reset_after, more_after
local argument = 0
local rules = {}

local function next_argument()
  argument = argument + 1
  return ARGV[argument]
end
