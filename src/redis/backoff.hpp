// The pause before the next attempt to connect. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace weir::redis
