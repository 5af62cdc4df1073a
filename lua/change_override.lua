-- Puts or removes one override of an identity. KEYS: that of its overrides. ARGV: the name of the
-- policy or *, its line or '' to remove it, and the most entries.
--
-- Returns -1 if there are as many others, else the number of entries of that name that were there.
-- Entries that have ended, and lines that cannot be read, are removed. The key expires with the last
-- entry.
local text = redis.pcall('GET', KEYS[1])
local lines, found, latest = {}, 0, 0
local function add(line, ends)
  lines[#lines + 1] = line
  if ends == 0 then latest = math.huge end
  if ends > latest then latest = ends end
end
if type(text) == 'string' and text:sub(1, 2) == '1\n' then
  for line in text:sub(3):gmatch('([^\n]+)\n') do
    local name, ends = line:match('^([^\t]+)\t%x+\t%l (%d+) ')
    ends = name and ends + 0
    local lasts = name and (ends == 0 or ends > clock)
    if lasts and name == ARGV[1] then
      found = found + 1
    elseif lasts then
      add(line, ends)
    end
  end
end
if ARGV[2] ~= '' then
  if #lines >= ARGV[3] + 0 then return -1 end
  add(ARGV[2], ARGV[2]:match('^[^\t]+\t%x+\t%l (%d+) ') + 0)
end
if #lines == 0 then
  redis.call('DEL', KEYS[1])
elseif latest == math.huge then
  redis.call('SET', KEYS[1], '1\n' .. table.concat(lines, '\n') .. '\n')
else
  local ttl = math.max(math.floor((latest - clock) / 1000), 0) + ttl_margin
  redis.call('SET', KEYS[1], '1\n' .. table.concat(lines, '\n') .. '\n', 'PX',
             string.format('%.0f', ttl))
end
return found
