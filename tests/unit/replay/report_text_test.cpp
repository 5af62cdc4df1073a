// The report for people.
#include "catch.hpp"
#include "replay/report.hpp"

namespace weir::replay {
namespace {

Report small_report() {
  const Instant noon{std::chrono::seconds(1'767'268'800)};
  Report report{
      .lines = {.read = 1'234'567,
                .unreadable = 7,
                .first_faults = {{.file = "a.log", .number = 3, .fault = LineFault::time}}},
      .first_at = noon,
      .last_at = noon + std::chrono::minutes(5),
      .late = 2,
      .outcomes = {.allowed = 1'234'000, .denied = 567, .unrouted = 1, .service_calls = 2},
      .absent = {{.identity = "api_key", .requests = 12}},
      .routes = {{.policy = "p",
                  .is_shadow = true,
                  .route = "all",
                  .use = {.requests = 1'000, .denied = 5}}},
      .policies = {{.policy = "p", .keys = 4, .denied_keys = 1}}};
  report.keys = {{.policy = "p",
                  .identity = "client",
                  .hash = {},
                  .address = "192.0.2.7",
                  .use = {.requests = 10, .denied = 5},
                  .peak = 130,
                  .window = std::chrono::minutes(1),
                  .first_denied_at = noon},
                 {.policy = "slots",
                  .identity = "key",
                  .hash = {.low = 1, .high = 0},
                  .use = {.requests = 3, .denied = 1},
                  .peak = 2,
                  .first_denied_at = noon}};
  return report;
}

constexpr auto text = R"(requests        1,234,567
time            2026-01-01T12:00:00Z to 2026-01-01T12:05:00Z
allowed         1,234,000 (100.0 %)
denied          567 (0.05 %)
no route        1 (< 0.01 %): no route matches, or Weir refuses the request before
service calls   2 (< 0.01 %): calls of the rate limit service, not replayed, because the log does not have their descriptors
late            2 (< 0.01 %): their lines came more than a minute too late in the log; decided at the instant of the request before them
unreadable lines 7
  a.log:3: its time cannot be read
  ... and 6 more
absent          api_key in 12 requests: limits looked for it, and the log does not have it

POLICY      ROUTE  REQUESTS  DENIED   SHARE
p (shadow)  all       1,000       5  0.50 %

POLICY  KEYS  LIMITED   SHARE
p          4        1  25.0 %

POLICY  IDENTITY  KEY                                    FIRST DENIED          REQUESTS  DENIED       PEAK
p       client    192.0.2.7                              2026-01-01T12:00:00Z        10       5     130/1m
slots   key       hash:00000000000000000000000000000001  2026-01-01T12:00:00Z         3       1  2 at once
)";

}  // namespace

TEST_CASE("a report has what happened, and no lines about what did not") {
  CHECK(to_text(small_report()) == text);
  CHECK(to_text({}) == "requests        0\nallowed         0 (0 %)\ndenied          0 (0 %)\n");
}

TEST_CASE("every fault of a line has a description") {
  for (const LineFault fault :
       {LineFault::form, LineFault::time, LineFault::status, LineFault::length})
    CHECK_FALSE(describe(fault).empty());
}

}  // namespace weir::replay
