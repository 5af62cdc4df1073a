#include "catch.hpp"
#include "proxy/forward_phase.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

constexpr Instant start = instant_from_us(1'700'000'000'000'000);

std::uint64_t counted(const RouteCounters& counters) {
  std::uint64_t sum = 0;
  for (const Counter& status : counters.by_status)
    sum += status.value();
  return sum;
}

TEST_CASE("a request counts once, where it belongs at the end of its route phase") {
  RouteCounters unrouted, route;
  RequestCount count;
  count.begin(unrouted, start);
  SECTION("without a route") {
    count.count(404, start + 3ms);
    CHECK(unrouted.by_status[304].value() == 1);
    CHECK(unrouted.duration.sum_us() == 3'000);
    CHECK(counted(route) == 0);
  }
  SECTION("with a route") {
    count.use(route);
    count.count(200, start + 5ms);
    CHECK(route.by_status[100].value() == 1);
    CHECK(route.duration.sum_us() == 5'000);
    CHECK(counted(unrouted) == 0);
  }
  SECTION("a denial is counted beside the status") {
    count.use(route);
    count.count_denial();
    count.count(403, start);
    CHECK(route.denied.value() == 1);
    CHECK(counted(route) == 1);
    CHECK(unrouted.denied.value() == 0);
  }
  SECTION("a tunnel counts when it opens, not when it ends") {
    count.use(route);
    count.count(101, start + 1ms);
    count.count(101, start + 1h);
    CHECK(counted(route) == 1);
    CHECK(route.duration.sum_us() == 1'000);
  }
  SECTION("without an answer it does not count, also not later") {
    count.count(0, start);
    count.count(200, start);
    CHECK(counted(unrouted) + counted(route) == 0);
    CHECK(unrouted.duration.sum_us() == 0);
  }
  SECTION("the next request counts again") {
    count.count(404, start);
    count.begin(unrouted, start + 1s);
    count.count(404, start + 1s);
    CHECK(counted(unrouted) == 2);
    CHECK(unrouted.duration.sum_us() == 0);
  }
}

}  // namespace
}  // namespace weir::proxy
