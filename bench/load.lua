-- The load of wrk: GET / with x-api-key running over KEYS values in an order without locality.
-- Prints one line that bench/measure.py reads.
local keys = tonumber(os.getenv("WEIR_BENCH_KEYS"))
local step = 61803 -- shares no factor with 100,000, so every key comes before one comes again
local requests = {}
local at = tonumber(os.getenv("WEIR_BENCH_FIRST")) * step % keys

function init()
  for key = 1, keys do
    requests[key] = wrk.format("GET", "/bench", {["x-api-key"] = string.format("key-%06d", key), ["Host"] = wrk.headers["Host"]})
  end
end

function request()
  at = (at + step) % keys
  return requests[at + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("weir-bench requests=%d duration_us=%d refused=%d failed=%d p50_us=%d p99_us=%d\n",
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
