// Fixed window: one counter a window, which the first charged request starts or the clock aligns
// (Anchor).
//
// It has the smallest state and the coarsest guarantee: around the boundary of two windows twice
// the quota may pass. Implements the functions of rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// A fresh state is all zero. With count_rejected `used` may be above the quota.
struct FixedWindowState {
  Instant start{};
  std::int64_t used = 0;
  friend bool operator==(const FixedWindowState&, const FixedWindowState&) = default;
};

Admission admit(const Policy& policy, const FixedWindowState& state, Instant now, Demand demand);
void charge(const Policy& policy, FixedWindowState& state, Instant now, std::int64_t units);
/// The window keeps its start. Without any use left it has ended.
void refund(const Policy& policy, FixedWindowState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const FixedWindowState& state, Instant now);
Instant whole_at(const Policy& policy, const FixedWindowState& state);

}  // namespace weir::rules
