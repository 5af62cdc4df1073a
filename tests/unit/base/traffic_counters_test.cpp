#include "base/traffic_counters.hpp"

#include "catch.hpp"

namespace weir {

TEST_CASE("a route counts by status, and ignores invalid ones") {
  RouteCounters route;
  for (const int status : {100, 200, 429, 429, 599, 99, 600, 0, -1})
    route.count(status, Duration{1});
  CHECK(route.by_status[0].value() == 1);
  CHECK(route.by_status[100].value() == 1);
  CHECK(route.by_status[329].value() == 2);
  CHECK(route.by_status[499].value() == 1);
  std::uint64_t counted = 0;
  for (const Counter& counter : route.by_status)
    counted += counter.value();
  CHECK(counted == 5);
  CHECK(route.duration.bucket(0) == 9);
}

}  // namespace weir
