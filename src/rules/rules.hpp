// The interface of all algorithms: (policy, state, now, demand) -> (state, decision).
//
// Every state type S has these overloads:
//
//   Admission admit(const Policy&, const S&, Instant now, Demand)
//     decides whether it may pass; reads only
//   void charge(const Policy&, S&, Instant now, std::int64_t units)
//     takes admitted units, and with count_rejected denied ones
//   Level level(const Policy&, const S&, Instant now)
//     returns the units left
//   Instant whole_at(const Policy&, const S&)
//     returns the instant from which S equals a fresh S{}
//
// A store first decides all claims of a request, then charges all of them or none.
#pragma once

#include <utility>

#include "rules/attributed_window.hpp"
#include "rules/fixed_window.hpp"
#include "rules/gcra.hpp"
#include "rules/leaky_bucket.hpp"
#include "rules/sliding_log.hpp"
#include "rules/sliding_window.hpp"
#include "rules/token_bucket.hpp"

namespace weir::rules {

/// Calls `visit(S{})` with a fresh state of the policy's algorithm.
template <class Visitor>
decltype(auto) with_state_of(Algorithm algorithm, Visitor&& visit) {
  switch (algorithm) {
    case Algorithm::fixed_window:
      return visit(FixedWindowState{});
    case Algorithm::attributed_window:
      return visit(AttributedWindowState{});
    case Algorithm::sliding_window:
      return visit(SlidingWindowState{});
    case Algorithm::sliding_log:
      return visit(SlidingLogState{});
    case Algorithm::token_bucket:
      return visit(TokenBucketState{});
    case Algorithm::leaky_bucket:
      return visit(LeakyBucketState{});
    case Algorithm::gcra:
      break;
  }
  return visit(GcraState{});
}

/// Makes the decision for one claim: `admission` is from before the charge, `state` from after it.
template <class State>
Decision decision_of(const Policy& policy, const State& state, Instant now,
                     const Admission& admission) {
  const Level now_level = level(policy, state, now);
  return {.allowed = admission.allowed,
          .limit = policy.capacity,
          .remaining = now_level.remaining,
          .reset_after = now_level.reset_after,
          .more_after = now_level.more_after,
          .delay = admission.delay,
          .retry_after = admission.retry_after};
}

/// Decides one claim alone: admits, charges, and returns the decision. For tests and callers with a
/// single limit.
template <class State>
Decision decide(const Policy& policy, State& state, Instant now, Demand demand) {
  const Admission admission = admit(policy, state, now, demand);
  if (admission.allowed) {
    charge(policy, state, now, admission.units);
  } else if (policy.count_rejected) {
    charge(policy, state, now, demand.cost);
  }
  return decision_of(policy, state, now, admission);
}

}  // namespace weir::rules
