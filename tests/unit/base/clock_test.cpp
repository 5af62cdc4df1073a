#include "base/clock.hpp"

#include "catch.hpp"

namespace weir {
namespace {

TEST_CASE("the clock starts at wall time and does not step back") {
  const MonotonicClock clock;
  const Instant first = clock.now();
  CHECK(std::chrono::abs(first - std::chrono::system_clock::now()) < std::chrono::minutes{1});
  Instant last = first;
  for (int i = 0; i < 1000; ++i) {
    const Instant now = clock.now();
    REQUIRE(now >= last);
    last = now;
  }
}

}  // namespace
}  // namespace weir
