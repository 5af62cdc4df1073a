-- The last argument as the clock, for tests. The time of the server passes while theirs may stand
-- still, so their keys live a minute longer.
local clock = ARGV[#ARGV] + 0
local ttl_margin = 60002
