#include "loop/ticks.hpp"

#include "catch.hpp"

namespace weir::loop {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a duration is rounded up to ticks, at least one") {
  CHECK(ticks_in(0ms) == 1);
  CHECK(ticks_in(100ms) == 1);
  CHECK(ticks_in(101ms) == 2);
  CHECK(ticks_in(75s) == 750);
}

TEST_CASE("ticks keep their interval, and those that were missed are not made up for") {
  const Instant due{1'000ms};
  CHECK(next_tick(due, Instant{1'000ms}) == Instant{1'100ms});
  CHECK(next_tick(due, Instant{1'030ms}) == Instant{1'100ms});
  CHECK(next_tick(due, Instant{1'100ms}) == Instant{1'100ms});
  CHECK(next_tick(due, Instant{1'101ms}) == Instant{1'201ms});
  CHECK(next_tick(due, Instant{9'000ms}) == Instant{9'100ms});
}

}  // namespace
}  // namespace weir::loop
