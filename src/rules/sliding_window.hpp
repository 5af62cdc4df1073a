// Sliding window: counters for tenths of a window; several tiers are decided together.
//
// The window reaches back over ten whole sub-windows and part of an eleventh. The oldest one counts
// in proportion to the part still inside, rounded up, and is forgiven at most a tenth of the quota
// before it has left completely. So no period of one window has more than the quota and that tenth
// (docs/algorithms.md). Implements the functions of rules.hpp; every tier must allow a request.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

inline constexpr std::int64_t sub_windows = 10;
/// The largest count of a tier, and the largest value of a counter: 2 * count * count is at most
/// 2^53, which keeps the proportion of a sub-window exact.
inline constexpr std::int64_t sub_window_count_limit = std::int64_t{1} << 26;

/// One tier: the counts of the eleven newest sub-windows.
struct TierCounters {
  std::int64_t length_us = 0;  ///< of a sub-window, when this was written
  Instant latest{};            ///< of the newest charge; its sub-window is the newest
  std::array<std::uint32_t, static_cast<std::size_t>(sub_windows) + 1> used{};  ///< newest first
  friend bool operator==(const TierCounters&, const TierCounters&) = default;
};

/// A fresh state is empty; after the first charge it has one element a tier, in the order of the
/// policy's rates.
struct SlidingWindowState {
  std::vector<TierCounters> tiers;
  friend bool operator==(const SlidingWindowState&, const SlidingWindowState&) = default;
};

Admission admit(const Policy& policy, const SlidingWindowState& state, Instant now, Demand demand);
void charge(const Policy& policy, SlidingWindowState& state, Instant now, std::int64_t units);
/// Takes the units of each tier from its newest sub-windows. From the oldest one, which counts in
/// part, it takes no more than keeps the guarantee: see docs/algorithms.md.
void refund(const Policy& policy, SlidingWindowState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const SlidingWindowState& state, Instant now);
Instant whole_at(const Policy& policy, const SlidingWindowState& state);

}  // namespace weir::rules
