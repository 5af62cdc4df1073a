// Sliding log: the time of every admitted request; exact over any window.
//
// A request counts for exactly one window: at its instant plus the window it no longer does. Each
// entry has the running total, so that a decision is a binary search and not a sum. The log is
// bounded by the quota, because only the newest `quota` units matter. Implements the functions of
// rules.hpp.
#pragma once

#include <vector>

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

struct LogEntry {
  Instant at{};
  std::int64_t total =
      0;  ///< units charged up to and with this instant, over the life of the state
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

/// A fresh state is empty.
struct SlidingLogState {
  /// In time order, one for each instant; expired ones are dropped half a log at a time.
  std::vector<LogEntry> entries;
  std::int64_t dropped = 0;  ///< the total before entries.front()
  friend bool operator==(const SlidingLogState&, const SlidingLogState&) = default;
};

Admission admit(const Policy& policy, const SlidingLogState& state, Instant now, Demand demand);
void charge(const Policy& policy, SlidingLogState& state, Instant now, std::int64_t units);
/// Takes the units from the newest entries.
void refund(const Policy& policy, SlidingLogState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const SlidingLogState& state, Instant now);
Instant whole_at(const Policy& policy, const SlidingLogState& state);

}  // namespace weir::rules
