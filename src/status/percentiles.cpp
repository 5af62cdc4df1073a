#include "status/percentiles.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>

namespace weir::status {
namespace {

constexpr auto& bounds = DurationHistogram::bounds_us;

/// `total`: of all buckets, above 0. With at most 2^32 durations in a bucket nothing overflows.
Duration percentile(const HistogramSum& durations, std::uint64_t total, std::uint64_t percent) {
  // In hundredths of a duration.
  const std::uint64_t rank = total * percent;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const std::uint64_t here = durations.buckets[i] * 100;
    if (here > 0 && below + here >= rank) {
      const std::int64_t lower = i == 0 ? 0 : bounds[i - 1];
      const auto width = static_cast<std::uint64_t>(bounds[i] - lower);
      const std::uint64_t into = (width * (rank - below) + here - 1) / here;
      return Duration{lower + static_cast<std::int64_t>(into)};
    }
    below += here;
  }
  return Duration{bounds.back()};
}

}  // namespace

HistogramSum difference(const HistogramSum& later, const HistogramSum& earlier) {
  HistogramSum added = later;
  for (std::size_t i = 0; i < added.buckets.size(); ++i) {
    if (earlier.buckets[i] > later.buckets[i]) return later;
    added.buckets[i] -= earlier.buckets[i];
  }
  added.sum_us = later.sum_us >= earlier.sum_us ? later.sum_us - earlier.sum_us : later.sum_us;
  return added;
}

std::optional<Percentiles> percentiles_of(const HistogramSum& durations) {
  const std::uint64_t total =
      std::accumulate(durations.buckets.begin(), durations.buckets.end(), std::uint64_t{0});
  if (total == 0) return std::nullopt;
  return Percentiles{.p50 = percentile(durations, total, 50),
                     .p90 = percentile(durations, total, 90),
                     .p99 = percentile(durations, total, 99)};
}

}  // namespace weir::status
