-- Announces an instance, and returns the others (src/redis/instance_announcement.hpp).
--
-- KEYS: the list of the instances, and the settings of this one: the first key, a colon and their
-- digest. ARGV: the ID of the instance, the digest, the settings, milliseconds until the instance
-- counts as gone, and the most instances in the list. The list has a line "ID DIGEST END" for each
-- instance that is not gone, with END in microseconds.
--
-- Returns the lines of the others, and the settings of up to three digests that differ.
local others, different = {}, {}
local text = redis.pcall('GET', KEYS[1])
if type(text) == 'string' then
  for id, digest, ends in text:gmatch('(%x+) (%x+) (%d+)\n') do
    if id ~= ARGV[1] and ends + 0 > clock and #others < ARGV[5] - 1 then
      others[#others + 1] = id .. ' ' .. digest .. ' ' .. ends .. '\n'
      if digest ~= ARGV[2] and not different[digest] and #different < 3 then
        different[digest] = true
        different[#different + 1] = redis.pcall('GET', KEYS[1] .. ':' .. digest)
      end
    end
  end
end
local lines = table.concat(others)
local own = string.format('%s %s %.0f\n', ARGV[1], ARGV[2], clock + ARGV[4] * 1000)
redis.call('SET', KEYS[1], lines .. own, 'PX', ARGV[4] + ttl_margin)
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4] + ttl_margin)
local answer = {lines}
for _, settings in ipairs(different) do
  if type(settings) == 'string' then answer[#answer + 1] = settings end
end
return answer
