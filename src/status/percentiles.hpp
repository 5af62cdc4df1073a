// Percentiles of durations that were counted in buckets. Pure.
//
// Durations are taken to be spread evenly over their bucket, as Prometheus' histogram_quantile()
// does: the result is exact to the width of the bucket. The lower bound of the first bucket is 0; a
// duration above the largest bound counts as that bound.
#pragma once

#include <optional>

#include "base/counters.hpp"
#include "base/time.hpp"

namespace weir::status {

struct Percentiles {
  Duration p50{0};
  Duration p90{0};
  Duration p99{0};
  friend bool operator==(const Percentiles&, const Percentiles&) = default;
};

/// The durations that are counted in `later` and not in `earlier`. A counter that has become
/// smaller was made anew, and counts from 0.
HistogramSum difference(const HistogramSum& later, const HistogramSum& earlier);

/// Rounded up to microseconds; nothing if there is no duration.
std::optional<Percentiles> percentiles_of(const HistogramSum& durations);

}  // namespace weir::status
