-- The last argument as the clock: for tests, which choose their instants.
local clock = ARGV[#ARGV] + 0
