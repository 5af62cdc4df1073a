-- The place of a request in KEYS and ARGV: this script decides several requests, one after the
-- other (joined.lua).
--
-- KEYS and ARGV have those of each request in turn, as arguments.lua describes them. ARGV begins
-- with a string of two bytes for each request: its number of claims, and its number of arguments.
local KEYS, ARGV = KEYS, ARGV
local first_key, first_argument, claim_count = 1, 2, nil
-- Work done so far, in plain claims. `most_work`: see joined.lua.
local work = 0
