#include "base/time.hpp"

#include <limits>

#include "catch.hpp"

namespace weir {
namespace {

TEST_CASE("seconds are rounded up, and only up") {
  struct Row {
    std::int64_t us;
    std::int64_t seconds;
  };
  for (const Row row :
       {Row{0, 0}, Row{1, 1}, Row{999'999, 1}, Row{1'000'000, 1}, Row{1'000'001, 2}, Row{-1, 0},
        Row{-1'000'001, -1}, Row{std::numeric_limits<std::int64_t>::max(), 9'223'372'036'855}}) {
    INFO(row.us);
    CHECK(ceil_seconds(Duration{row.us}) == row.seconds);
  }
}

TEST_CASE("instants count microseconds since the epoch") {
  CHECK(to_us(instant_from_us(1'234'567)) == 1'234'567);
  CHECK(instant_from_us(5) - instant_from_us(3) == Duration{2});
  CHECK(instant_from_us(0) == Instant{});
  CHECK(to_us(Duration{std::chrono::seconds{2}}) == 2'000'000);
}

}  // namespace
}  // namespace weir
