// The part of a policy that a worker keeps from one configuration to the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/counters.hpp"
#include "limiter/charge.hpp"

namespace weir::limiter {

/// Decisions by policy and outcome, for the metrics.
struct PolicyCounters {
  Counter allowed, denied, shadow_denied, delayed;
  std::array<Counter, settled_by_names.size()>
      settled;   ///< settlements by what determined the cost
  Gauge held;    ///< units held for requests in progress
  Gauge queued;  ///< requests that wait for a slot
  /// Units in leases; shared with the leases, which may outlive the policy.
  std::shared_ptr<Gauge> leased = std::make_shared<Gauge>();
  Counter error;  ///< answered 503 because the store did not decide and this policy denies then
};

/// The part of a policy that a worker keeps from one configuration to the next.
struct PolicyRecord {
  std::uint32_t id = 0;  ///< by its name: the store keeps its state under it
  /// By its definition: denials of other revisions are not used. The terms of the i-th plan in
  /// Policy::planned have the revision `revision + 1 + i`.
  std::uint32_t revision = 0;
  std::shared_ptr<PolicyCounters> counters;
};

}  // namespace weir::limiter
