-- The place of a request in KEYS and ARGV: this script decides one request.
local KEYS, ARGV = KEYS, ARGV
local first_key, first_argument, claim_count = 1, 1, #KEYS / 2
