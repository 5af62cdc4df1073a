// The pause before the next attempt to connect. Pure; Backoff is not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"

namespace weir::redis {

inline constexpr Duration shortest_retry_after = std::chrono::milliseconds(50);
inline constexpr Duration longest_retry_after = std::chrono::seconds(1);

/// This many consecutive failures lead to the longest pause.
inline constexpr int failures_at_longest = 6;

/// The pause after `failures` consecutive failures (at least one). It doubles with each up to the
/// longest. Its upper half is jitter, so that instances that lost the same server do not reconnect
/// at the same time.
constexpr Duration retry_after(int failures, std::uint64_t random) {
  const int doublings = std::clamp(failures, 1, failures_at_longest) - 1;
  const Duration whole = std::min(shortest_retry_after * (1 << doublings), longest_retry_after);
  const auto jitter = static_cast<std::uint64_t>(whole.count() / 2 + 1);
  return whole - Duration{static_cast<std::int64_t>(random % jitter)};
}

/// Counts consecutive failures.
class Backoff {
 public:
  /// `seed`: of the jitter.
  explicit Backoff(std::uint64_t seed) : random_(seed) {}

  /// The connection that has failed now was ready for this long. One that lasts a moment counts as
  /// another failure, so that pauses keep growing.
  void on_ready_for(std::chrono::steady_clock::duration duration) {
    if (duration >= longest_retry_after) failures_ = 0;
  }
  /// The pause after another failure.
  Duration next() {
    failures_ = std::min(failures_, failures_at_longest) + 1;
    return retry_after(failures_, random_.next());
  }
  /// As next(), after a failure that an attempt soon after cannot correct, such as a wrong
  /// password.
  Duration next_longest() {
    failures_ = failures_at_longest;
    return next();
  }

 private:
  Random random_;
  int failures_ = 0;
};

}  // namespace weir::redis
