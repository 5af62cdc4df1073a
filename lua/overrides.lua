-- Overrides of one identity: other numbers for a policy, no limit, or denied. As in
-- src/store/override.hpp; src/redis/override_text.hpp describes their text.
--
-- Applies the entry in force to the policy: sets its numbers, or a rule that reads and charges
-- nothing, and `override`: {effect, capacity, refill, microseconds until it ends or 0}, as
-- rules::OverrideEffect. An entry that cannot be read, or has numbers for a policy of another form,
-- has only the effect. Without numbers or a denial an exempt policy allows. `text`: the reply to
-- GET, false without overrides. Creates its functions only for identities with overrides and for
-- exempt policies.
local function apply_override(policy, text, overrides_key)
  local malformed = text and (type(text) ~= 'string' or text:sub(1, 2) ~= '1\n')

  -- Kind, remaining time and numbers of the entry for a policy, or for all with the name *.
  local function entry_of(name)
    if malformed or not text then return end
    local _, last = text:find('\n' .. name .. '\t', 1, true)
    if not last then return end
    local sum, rest = text:match('^(%x+)\t([^\n]*)\n', last + 1)
    if sum and redis.sha1hex(name .. '\t' .. rest):sub(1, 8) == sum then
      local kind, ends, numbers = rest:match('^([nudp]) (%d+) ([^\t]*)\t')
      if kind then
        ends = ends + 0
        if ends == 0 then return kind, 0, numbers end
        if ends > clock then return kind, ends - clock, numbers end
        return
      end
    end
    malformed = true
  end

  local name = policy.key:sub(#overrides_key, -4) -- without the colon and the state code
  local every, every_rest, every_numbers = entry_of('*')
  local kind, rest, numbers = entry_of(name)
  if every == 'd' and (kind ~= 'd' or rest > 0 and (every_rest == 0 or every_rest > rest)) or
     not kind and not malformed then
    kind, rest, numbers = every, every_rest, every_numbers
  end
  if kind == 'p' then
    local _, last = numbers:find('\31' .. name .. '\31', 1, true)
    kind = last and numbers:sub(last + 1, last + 1)
    numbers = last and numbers:match('^[%d ]*', last + 2)
  end

  if kind == 'n' then
    local all = {}
    for number in numbers:gmatch('%d+') do all[#all + 1] = number + 0 end
    local form = policy.mark - 160 + (policy.count_rejected and 32 or 0) +
                 (policy.aligned and 64 or 0)
    if all[1] == form then
      policy.capacity, policy.count, policy.per = all[3], all[4], all[5]
      policy.remainder = policy.per % policy.count
      policy.interval = (policy.per - policy.remainder) / policy.count
      if policy.rule.parse then policy.rule.parse(policy, all, 6) end
      policy.override = {1, policy.capacity, all[2], rest}
      return
    end
    kind, malformed = nil, true
  end
  if kind then
    policy.override = {kind == 'u' and 2 or 3, policy.capacity, 0, rest}
  elseif malformed then
    policy.override = {4, policy.capacity, 0, 0}
  end
  if not kind and not policy.exempt then return end
  local free = kind ~= 'd'
  policy.count_rejected = false
  policy.rule = {
    read = function() return {at = 0, expires = 0} end,
    admit = function()
      if free then return 0, 0 end
      return nil, -1
    end,
    charge = function() end,
    level = function() return free and policy.capacity or 0, 0, 0 end,
  }
end
