-- The server's clock, read once: instances whose clocks differ share this one.
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
