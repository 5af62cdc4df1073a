// The interface of all algorithms: (policy, state, now, demand) -> (state, decision).
//
// Every state type S has these overloads:
//
//   Admission admit(const Policy&, const S&, Instant now, Demand)
//     decides whether it may pass; reads only
//   void charge(const Policy&, S&, Instant now, std::int64_t units)
//     takes admitted units, and with count_rejected denied ones
//   void refund(const Policy&, S&, Instant now, std::int64_t units)
//     gives units back that were charged before: afterwards max(0, used - units) are used. Does
//     nothing to a state without use. docs/algorithms.md has the guarantee.
//   Level level(const Policy&, const S&, Instant now)
//     returns the units left
//   Instant whole_at(const Policy&, const S&)
//     returns the instant from which S equals a fresh S{}
//
// rules/holds.hpp has the same beside units that are held until a response ends.
//
// A store first decides all claims of a request, then charges all of them or none.
#pragma once

#include <utility>

#include "rules/attributed_window.hpp"
#include "rules/concurrency.hpp"
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
    case Algorithm::concurrency:
      return visit(ConcurrencyState{});
    case Algorithm::gcra:
      break;
  }
  return visit(GcraState{});
}

/// Makes the decision for one claim: `admission` is from before the charge, `level` from after it.
inline Decision decision_at(const Policy& policy, const Level& level, const Admission& admission) {
  return {.allowed = admission.allowed,
          .limit = policy.capacity,
          .remaining = level.remaining,
          .reset_after = level.reset_after,
          .more_after = level.more_after,
          .delay = admission.delay,
          .retry_after = admission.retry_after};
}
/// The same with the level of `state` after the charge.
template <class State>
Decision decision_of(const Policy& policy, const State& state, Instant now,
                     const Admission& admission) {
  return decision_at(policy, level(policy, state, now), admission);
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
