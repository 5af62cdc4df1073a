// Leaky bucket as a queue: GCRA with a delay for early requests, like nginx limit_req with `burst`.
//
// The turn of a demand is the TAT; its delay is the time until then. It is admitted if it and the
// units ahead of it fit into one unit in service and `queue` units waiting, and the delay is at
// most max_delay. Later demands wait one interval for each unit of its cost. Implements the
// functions of rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// Like GcraState: tat_us + fraction / count microseconds, and the latest charge. A fresh state is
/// all zero.
struct LeakyBucketState {
  std::int64_t tat_us = 0;
  std::int64_t fraction = 0;
  Instant at{};
  friend bool operator==(const LeakyBucketState&, const LeakyBucketState&) = default;
};

Admission admit(const Policy& policy, const LeakyBucketState& state, Instant now, Demand demand);
void charge(const Policy& policy, LeakyBucketState& state, Instant now, std::int64_t units);
/// Moves the TAT back, not before `now`. Requests that wait already keep their turns.
void refund(const Policy& policy, LeakyBucketState& state, Instant now, std::int64_t units);
/// `remaining` is the largest cost that one demand could have now: 0 if the delay would be above
/// max_delay.
Level level(const Policy& policy, const LeakyBucketState& state, Instant now);
Instant whole_at(const Policy& policy, const LeakyBucketState& state);

}  // namespace weir::rules
