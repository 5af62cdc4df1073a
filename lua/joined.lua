-- Decides the requests of joined_requests.lua with decide(), which returns what the script for one
-- request returns.
--
-- Returns an array with one element for each request: its reply, an error if it has failed, or
-- false if it is not decided. An error ends the request in which it occurs, and no other one.
--
-- The client sends at most `most_work` claims, but cannot know which of them read overrides, and
-- these take several times as long. So the call begins no request once the work is done: Redis
-- serves nothing else meanwhile.
local shape, replies, request = ARGV[1], {}, 0
local request_count = #shape / 2
local next_key, next_argument = first_key, first_argument

local function decide_the_rest()
  while request < request_count and work < most_work do
    request = request + 1
    local argument_count
    claim_count, argument_count = string.byte(shape, 2 * request - 1, 2 * request)
    work = work + claim_count
    first_key, first_argument = next_key, next_argument
    next_key, next_argument = first_key + 2 * claim_count, first_argument + argument_count
    replies[request] = decide()
  end
end

-- One pcall for all requests, because errors are rare.
while request < request_count and work < most_work do
  local is_good, failure = pcall(decide_the_rest)
  if not is_good then
    local text = type(failure) == 'table' and failure.err or failure
    -- An error of a command begins with its code; before Redis 7, and in Lua, with the line.
    if not text:find('^%u+ ') then text = 'ERR Error running script: ' .. text end
    replies[request] = {err = text}
  end
end
for undecided = request + 1, request_count do replies[undecided] = false end
return replies
