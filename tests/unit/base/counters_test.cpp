#include "base/counters.hpp"

#include <algorithm>

#include "catch.hpp"

namespace weir {
namespace {

TEST_CASE("counters add up, gauges go both ways") {
  Counter counter;
  counter.add();
  counter.add(41);
  CHECK(counter.value() == 42);
  Gauge gauge;
  gauge.add(2);
  gauge.add(-5);
  CHECK(gauge.value() == -3);
}

TEST_CASE("a duration falls into the first bucket whose bound it does not exceed") {
  DurationHistogram histogram;
  for (const auto bound : DurationHistogram::bounds_us) {
    histogram.observe(Duration{bound});
    histogram.observe(Duration{bound + 1});
  }
  histogram.observe(Duration{0});
  const std::size_t last = DurationHistogram::bounds_us.size();
  CHECK(histogram.bucket(0) == 2);
  for (std::size_t i = 1; i < last; ++i) {
    INFO(i);
    CHECK(histogram.bucket(i) == 2);
  }
  CHECK(histogram.bucket(last) == 1);
}

TEST_CASE("bounds ascend, and the sum is of all observations") {
  CHECK(std::is_sorted(DurationHistogram::bounds_us.begin(), DurationHistogram::bounds_us.end()));
  DurationHistogram histogram;
  histogram.observe(Duration{7});
  histogram.observe(Duration{100'000'000});
  CHECK(histogram.sum_us() == 100'000'007);
}

}  // namespace
}  // namespace weir
