-- The last argument as the clock: for tests, which choose their instants. The server's time passes
-- all the same while theirs stands still, so that their keys live a minute longer.
local clock = ARGV[#ARGV] + 0
local ttl_margin = 60002
