-- Marks a percentage of a key's quota as reported in a window (src/store/event_marks.hpp).
--
-- KEYS: the marks of the key under one policy, a hash with the end of the window by percentage, in
-- microseconds. ARGV: the percentage; microseconds until the window ends; microseconds, at most as
-- many, until the latest end of an earlier window; and milliseconds until the mark may go.
--
-- Returns 0 if this call has set the mark, else the microseconds until the window of the mark ends.
local marks = redis.pcall('HGETALL', KEYS[1])  -- needs no other right than the decisions do
for i = 1, #marks, 2 do
  if marks[i] == ARGV[1] and marks[i + 1] + 0 > clock + ARGV[3] then
    return math.max(marks[i + 1] - clock, 1)
  end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', clock + ARGV[2]))
local ttl = ARGV[4] + ttl_margin
if redis.call('PTTL', KEYS[1]) < ttl then
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ttl))
end
return 0
