// Leaky bucket as a queue: GCRA that lets an early request wait for its turn, as nginx limit_req
// does with `burst`.
//
// A demand's turn is the TAT; its delay is the time until then. It is admitted while it and what is
// ahead of it fit one unit in service and `queue` units waiting, and the delay is at most
// max_delay. Its cost takes that many intervals from those behind it. The four questions as in
// rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// As GcraState: tat_us + fraction / count microseconds, and the latest charge. A fresh state is
/// all zero.
struct LeakyBucketState {
  std::int64_t tat_us = 0;
  std::int64_t fraction = 0;
  Instant at{};
  friend bool operator==(const LeakyBucketState&, const LeakyBucketState&) = default;
};

Admission admit(const Policy& policy, const LeakyBucketState& state, Instant now, Demand demand);
void charge(const Policy& policy, LeakyBucketState& state, Instant now, std::int64_t units);
/// `remaining` is what one demand could take now: 0 as soon as the delay would be above max_delay.
Level level(const Policy& policy, const LeakyBucketState& state, Instant now);
Instant whole_at(const Policy& policy, const LeakyBucketState& state);

}  // namespace weir::rules
