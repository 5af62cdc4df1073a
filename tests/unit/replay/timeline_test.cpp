// Requests over the time of a log.
#include "replay/timeline.hpp"

#include <numeric>

#include "catch.hpp"

namespace weir::replay {
namespace {

Instant second(std::int64_t seconds) {
  return Instant{std::chrono::seconds(seconds)};
}

}  // namespace

TEST_CASE("periods begin with the log and have its gaps") {
  Timeline timeline;
  CHECK(timeline.periods().empty());
  timeline.count(second(100), false);
  timeline.count(second(100), true);
  timeline.count(second(102), false);
  CHECK(timeline.begin() == second(100));
  CHECK(timeline.periods() ==
        std::vector<Timeline::Period>{{.requests = 2, .denied = 1}, {}, {.requests = 1}});
}

TEST_CASE("periods become longer with the log, and keep every request") {
  Timeline timeline;
  const auto check = [&](std::uint64_t requests) {
    std::uint64_t sum = 0;
    for (const Timeline::Period& one : timeline.periods())
      sum += one.requests;
    CHECK(sum == requests);
    CHECK(timeline.periods().size() <= Timeline::most_periods);
    CHECK(to_us(timeline.begin()) % to_us(timeline.length()) == 0);
  };
  std::uint64_t requests = 0;
  for (std::int64_t at = 1'000'003; at < 1'000'003 + 5'000; ++at, ++requests)
    timeline.count(second(at), false);
  CHECK(timeline.length() == std::chrono::seconds(30));
  check(requests);
  // Years, as a wrong time causes.
  timeline.count(second(2'000'000'000), true);
  check(requests + 1);
  CHECK(timeline.periods().back().denied == 1);
}

}  // namespace weir::replay
