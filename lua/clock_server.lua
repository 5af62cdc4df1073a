-- The server's clock, read once: instances whose clocks differ share this one.
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
-- Added to every TTL, in milliseconds: one to round up, and one for the part of a millisecond by
-- which the time that TTLs count from may be behind.
local ttl_margin = 2
