-- The clock of the server, read once: all instances share it, whatever their own clocks.
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
-- Added to each TTL, in milliseconds: one to round up, and one because TTLs count from a time that
-- may be up to a millisecond behind.
local ttl_margin = 2
