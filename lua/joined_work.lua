-- Counts the claims that read overrides, for the bound of joined.lua.
local apply_uncounted = apply_override
local function apply_override(policy, text, overrides_key)
  work = work + most_work / 16
  return apply_uncounted(policy, text, overrides_key)
end
