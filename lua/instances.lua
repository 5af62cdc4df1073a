-- Announces an instance, and returns the others (src/redis/instance_announcement.hpp).
--
-- KEYS: the list of the instances. ARGV: the ID of the instance, the digest of its limits,
-- milliseconds until the instance counts as gone, and the most instances in the list. The list has
-- a line "ID DIGEST END" for each instance that is not gone, with END in microseconds.
--
-- Returns the lines of the others.
local others = {}
local text = redis.pcall('GET', KEYS[1])
if type(text) == 'string' then
  for id, digest, ends in text:gmatch('(%x+) (%x+) (%d+)\n') do
    if id ~= ARGV[1] and ends + 0 > clock and #others < ARGV[4] - 1 then
      others[#others + 1] = id .. ' ' .. digest .. ' ' .. ends .. '\n'
    end
  end
end
local lines = table.concat(others)
local own = string.format('%s %s %.0f\n', ARGV[1], ARGV[2], clock + ARGV[3] * 1000)
redis.call('SET', KEYS[1], lines .. own, 'PX', ARGV[3] + ttl_margin)
return lines
