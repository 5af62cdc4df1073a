-- GCRA in Redis for nginx's Lua, as it is usually written: one script, one call a request, a pool of
-- connections. The script that script/bench redis compares Weir with.
local redis = require "nginx.redis"

local script = [[
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, tolerance = tonumber(ARGV[1]), ARGV[1] * ARGV[2]
local tat = tonumber(redis.call('GET', KEYS[1])) or now
if tat < now then tat = now end
local ahead = tat + interval - now
if ahead > tolerance then return {0, 0, ahead - tolerance} end
redis.call('SET', KEYS[1], string.format('%.0f', tat + interval), 'PX', math.ceil(ahead / 1000))
return {1, math.floor((tolerance - ahead) / interval), 0}
]]
local sha = nil

local function decide(client, key, interval_us, burst)
  if not sha then sha = assert(client:script("load", script)) end
  local answer, fault = client:evalsha(sha, 1, key, interval_us, burst)
  if not answer and fault and fault:find("NOSCRIPT", 1, true) then
    answer, fault = client:eval(script, 1, key, interval_us, burst)
  end
  return answer, fault
end

local module = {}

function module.limit(port, interval_us, burst)
  local client = redis:new()
  client:set_timeout(1000)
  local connected = client:connect("127.0.0.1", port)
  if not connected then return ngx.exit(503) end
  local answer = decide(client, "limit:" .. (ngx.var.http_x_api_key or ""), interval_us, burst)
  client:set_keepalive(10000, 256)
  if not answer then return ngx.exit(503) end
  ngx.header["RateLimit-Limit"] = burst
  ngx.header["RateLimit-Remaining"] = answer[2]
  if answer[1] == 0 then
    ngx.header["Retry-After"] = math.ceil(answer[3] / 1000000)
    return ngx.exit(429)
  end
end

return module
