#include "status/percentiles.hpp"

#include <initializer_list>

#include "catch.hpp"

namespace weir::status {
namespace {

HistogramSum durations_of(std::initializer_list<std::pair<std::size_t, std::uint64_t>> buckets) {
  HistogramSum made;
  for (const auto& [bucket, count] : buckets)
    made.buckets[bucket] = count;
  return made;
}

TEST_CASE("percentiles are interpolated in their bucket") {
  struct Row {
    HistogramSum durations;
    std::int64_t p50, p90, p99;
  };
  // Upper bounds: 100, 250, 500, 1000 us ... 30 s.
  const Row rows[] = {
      // One bucket: from its lower bound, in proportion.
      {durations_of({{0, 100}}), 50, 90, 99},
      {durations_of({{2, 100}}), 375, 475, 498},  // 497.5 is rounded up
      {durations_of({{3, 1}}), 750, 950, 995},    // a single duration, too
      // The rank at the end of a bucket is its bound, whatever follows.
      {durations_of({{0, 50}, {5, 50}}), 100, 4'500, 4'950},
      {durations_of({{1, 99}, {10, 1}}), 176, 237, 250},
      // Empty buckets between.
      {durations_of({{0, 98}, {8, 2}}), 52, 92, 37'500},
      // Above the largest bound.
      {durations_of({{14, 3}}), 30'000'000, 30'000'000, 30'000'000},
      {durations_of({{13, 1}, {14, 99}}), 30'000'000, 30'000'000, 30'000'000},
      // Large numbers do not overflow.
      {durations_of({{13, 4'000'000'000}}), 17'500'000, 27'500'000, 29'750'000},
  };
  for (const Row& row : rows) {
    CAPTURE(row.p50, row.p90, row.p99);
    const auto made = percentiles_of(row.durations);
    REQUIRE(made);
    CHECK(to_us(made->p50) == row.p50);
    CHECK(to_us(made->p90) == row.p90);
    CHECK(to_us(made->p99) == row.p99);
  }
}

TEST_CASE("there are no percentiles without durations") {
  CHECK(!percentiles_of({}));
}

TEST_CASE("the difference of two histograms") {
  HistogramSum earlier = durations_of({{0, 5}, {3, 2}});
  HistogramSum later = durations_of({{0, 7}, {3, 2}, {14, 1}});
  earlier.sum_us = 100;
  later.sum_us = 350;
  const HistogramSum added = difference(later, earlier);
  CHECK(added.buckets == durations_of({{0, 2}, {14, 1}}).buckets);
  CHECK(added.sum_us == 250);
  CHECK(difference(later, {}).buckets == later.buckets);
  // Counters that were made anew.
  const HistogramSum anew = difference(earlier, later);
  CHECK(anew.buckets == earlier.buckets);
  CHECK(anew.sum_us == 100);
}

}  // namespace
}  // namespace weir::status
