// How long to leave a server alone after it failed. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace weir::redis {

inline constexpr Duration shortest_retry_after = std::chrono::milliseconds(50);
inline constexpr Duration longest_retry_after = std::chrono::seconds(1);

/// From this many on the pause is the longest.
inline constexpr int failures_at_longest = 6;

/// After `failures` in a row (at least one): doubles with each up to the longest. The upper half of
/// it is jitter, so that instances that lost the same server do not come back in step.
constexpr Duration retry_after(int failures, std::uint64_t random) {
  const int doublings = std::clamp(failures, 1, failures_at_longest) - 1;
  const Duration whole = std::min(shortest_retry_after * (1 << doublings), longest_retry_after);
  const auto jitter = static_cast<std::uint64_t>(whole.count() / 2 + 1);
  return whole - Duration{static_cast<std::int64_t>(random % jitter)};
}

}  // namespace weir::redis
