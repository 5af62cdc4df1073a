// The sum of the histograms of several workers, as Prometheus text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "admin/exposition.hpp"
#include "base/counters.hpp"

namespace weir::admin {

struct HistogramSum {
  std::array<std::uint64_t, DurationHistogram::bounds_us.size() + 1> buckets{};
  std::uint64_t sum_us = 0;

  void add(const DurationHistogram& part) {
    for (std::size_t i = 0; i < buckets.size(); ++i)
      buckets[i] += part.bucket(i);
    sum_us += part.sum_us();
  }
};

inline void write_histogram(Exposition& out, Labels labels, const HistogramSum& histogram) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < DurationHistogram::bounds_us.size(); ++i) {
    below += histogram.buckets[i];
    out.bucket(labels, seconds_text(Duration{DurationHistogram::bounds_us[i]}), below);
  }
  below += histogram.buckets.back();
  out.bucket(labels, "+Inf", below);
  out.sum(labels, Duration{static_cast<std::int64_t>(histogram.sum_us)});
  out.count(labels, below);
}

}  // namespace weir::admin
