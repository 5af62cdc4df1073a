// What a policy says to one request. Pure values; durations are exact, rounding happens when a
// field is written.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace weir::rules {

/// One request's demand on one policy.
struct Demand {
  /// Units; 0 looks without charging. Never negative: the configuration refuses it, the rules read
  /// it as 0.
  std::int64_t cost = 1;
  bool overdraft = false;  ///< admit even what exceeds the rest, and drain the rest
};

/// The answer to "may this demand pass now?", before anything is charged.
struct Admission {
  bool allowed = false;
  /// What to charge if the whole request is admitted; less than the cost in overdraft.
  std::int64_t units = 0;
  Duration delay{0};  ///< leaky_bucket: how long the admitted request waits for its turn
  /// Denied: until the first instant at which the same demand passes if nothing else comes; empty:
  /// never. With count_rejected the denial itself is taken as charged.
  std::optional<Duration> retry_after{};
};

/// How full a state is at an instant, after whatever was charged.
struct Level {
  std::int64_t remaining = 0;  ///< units that would pass at once
  Duration reset_after{0};     ///< until the quota is whole
  Duration more_after{0};      ///< until more than `remaining` is available; 0 when whole
};

/// Both together, as a store answers one claim.
struct Decision {
  bool allowed = false;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  Duration reset_after{0};
  Duration more_after{0};
  Duration delay{0};
  std::optional<Duration> retry_after{};
  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace weir::rules
