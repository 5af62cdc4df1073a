// Counters that one worker writes and a metrics scrape reads.
//
// Each worker owns its own set, so an increment is a plain load, add and store (no locked
// instruction); the scrape sums over workers. Values are monotone except Gauge. Reading from any
// thread is safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"

namespace weir {

class Counter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Durations in fixed buckets (upper bounds below, the last is +Inf), with their sum.
class DurationHistogram {
 public:
  static constexpr std::array<std::int64_t, 14> bounds_us{
      100,    250,    500,     1'000,   2'500,     5'000,     10'000,
      25'000, 50'000, 100'000, 250'000, 1'000'000, 5'000'000, 30'000'000};

  void observe(Duration duration) {
    std::size_t bucket = 0;
    while (bucket < bounds_us.size() && to_us(duration) > bounds_us[bucket])
      ++bucket;
    buckets_[bucket].add();
    sum_us_.add(static_cast<std::uint64_t>(to_us(duration)));
  }
  /// Observations in bucket `i` alone (not cumulative); index bounds_us.size() is the +Inf bucket.
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].value(); }
  std::uint64_t sum_us() const { return sum_us_.value(); }

 private:
  std::array<Counter, bounds_us.size() + 1> buckets_;
  Counter sum_us_;
};

/// The sum of the histograms of several workers.
struct HistogramSum {
  std::array<std::uint64_t, DurationHistogram::bounds_us.size() + 1> buckets{};
  std::uint64_t sum_us = 0;

  void add(const DurationHistogram& part) {
    for (std::size_t i = 0; i < buckets.size(); ++i)
      buckets[i] += part.bucket(i);
    sum_us += part.sum_us();
  }
  void add(const HistogramSum& part) {
    for (std::size_t i = 0; i < buckets.size(); ++i)
      buckets[i] += part.buckets[i];
    sum_us += part.sum_us;
  }
  bool operator==(const HistogramSum&) const = default;
};

}  // namespace weir
