-- Sends Weir a subrequest to decide whether a request may pass; for HAProxy 2.6 or later, loaded by
-- haproxy.cfg.
--
--   http-request lua.ask_weir          sets the variable txn.weir to "allowed", or to "silent" when
--                                      Weir does not answer; a response other than 2xx is
--                                      sent to the client unchanged
--   http-response lua.tell_limits      adds Weir's fields to the response to an admitted request
--   filter lua.report_to_weir          reports the end of a request for which Weir holds units
--
-- The subrequest is a little larger than the request. If it is too large to be sent, the request is
-- answered 431. After an error in this file txn.weir is not set.

local address = os.getenv("WEIR_ASKED_AT")

-- Fields about the connection to HAProxy, or about the body, which is not sent.
local not_passed_on = {
  ["connection"] = true, ["keep-alive"] = true, ["proxy-connection"] = true,
  ["content-length"] = true, ["transfer-encoding"] = true, ["te"] = true, ["trailer"] = true,
  ["expect"] = true, ["upgrade"] = true,
  -- Clients must not set their address or describe another request.
  ["forwarded"] = true, ["x-forwarded-for"] = true, ["x-real-ip"] = true,
  ["x-original-uri"] = true, ["x-forwarded-uri"] = true,
  ["x-original-method"] = true, ["x-forwarded-method"] = true, ["x-forwarded-host"] = true,
  ["weir-hold"] = true, ["weir-status"] = true,
}

-- The fields of a response that cost_from names, in lower case, such as "x-usage-tokens".
local cost_fields = {}

-- HAProxy's responses if a server is down, fails or is slow.
local silent = { [502] = true, [503] = true, [504] = true }

local function starts_with(text, prefix) return text:sub(1, #prefix) == prefix end

-- HAProxy numbers the lines of a field from 0, Lua lists start at 1.
local function list_of(lines)
  local list = {}
  for i = 0, #lines do list[#list + 1] = lines[i] end
  return list
end

local function question(txn)
  local fields = {}
  for name, lines in pairs(txn.http:req_get_headers()) do
    if not not_passed_on[name] then fields[name] = list_of(lines) end
  end
  fields["x-original-method"] = { txn.f:method() }
  fields["x-original-uri"] = { txn.f:pathq() }
  fields["x-forwarded-for"] = { txn.f:src() }
  return fields
end

local function limits_of(answer)
  local limits = {}
  for name, lines in pairs(answer.headers) do
    if starts_with(name, "ratelimit") or starts_with(name, "x-ratelimit") then
      limits[name] = list_of(lines)
    end
  end
  return limits
end

local function deny(txn, answer)
  local reply = txn:reply({ status = answer.status, body = answer.body })
  for name, lines in pairs(answer.headers) do
    if not not_passed_on[name] and name ~= "weir-answered" then
      for _, line in ipairs(list_of(lines)) do reply:add_header(name, line) end
    end
  end
  txn:done(reply)
end

core.register_action("ask_weir", { "http-req" }, function(txn)
  -- WEIR_TIMEOUT limits it; the timeout here must not be shorter.
  local answer = core.httpclient():get({
    url = "http://weir/", dst = address, headers = question(txn), timeout = 60000 })
  -- haproxy.cfg marks Weir's responses; if Weir does not answer, the response is HAProxy's own.
  if not answer.headers or not answer.headers["weir-answered"] then
    if not silent[answer.status] then return txn:done(txn:reply({ status = 431 })) end
    txn:set_var("txn.weir", "silent")
  elseif answer.status >= 200 and answer.status < 300 then
    txn:set_priv(limits_of(answer))
    -- Filters do not have the private data of actions.
    local hold = answer.headers["weir-hold"]
    if hold then txn:set_var("txn.weir_hold", hold[0]) end
    txn:set_var("txn.weir", "allowed")
  else
    deny(txn, answer)
  end
end)

core.register_action("tell_limits", { "http-res" }, function(txn)
  for name, lines in pairs(txn:get_priv() or {}) do
    txn.http:res_del_header(name)
    for _, line in ipairs(lines) do txn.http:res_add_header(name, line) end
  end
end)

local Report = { id = "reports the end of a request to Weir", flags = filter.FLT_CFG_FL_HTX }
Report.__index = Report

function Report:new() return setmetatable({}, Report) end

function Report:http_headers(txn, message)
  if message:is_resp() then
    if self.report then self:read_response(message) end
    return
  end
  local hold = txn:get_var("txn.weir_hold")
  if not hold then return end
  -- Weir finds the route as it did for the decision.
  self.report = { ["weir-hold"] = { hold }, ["x-original-method"] = { txn.f:method() },
                  ["x-original-uri"] = { txn.f:pathq() }, ["host"] = { txn.f:req_hdr("host") } }
end

function Report:read_response(message)
  self.status = message:get_stline().code
  local fields = message:get_headers()
  for _, name in ipairs(cost_fields) do
    if fields[name] then self.report[name] = list_of(fields[name]) end
  end
end

-- status: of the server. own: of a response that HAProxy built. HAProxy has 400, or no response, if the
-- client left.
local function status_of(status, own)
  return status or own and own ~= 400 and own or 499
end

-- Called at the end of the response, also of one that HAProxy built.
function Report:end_analyze(txn, channel)
  local report = self.report
  if not report or not channel:is_resp() then return end
  self.report = nil
  report["weir-status"] = { tostring(status_of(self.status, txn:get_var("txn.weir_status"))) }
  core.register_task(function()
    core.httpclient():get({ url = "http://weir/", dst = address, headers = report, timeout = 5000 })
  end)
end

core.register_filter("report_to_weir", Report, function(self, arguments) return self end)
