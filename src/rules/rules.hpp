// All algorithms behind one shape: (policy, state, now, demand) -> (state, decision).
//
// Every state type S has, found by overload:
//
//   Admission admit(const Policy&, const S&, Instant now, Demand)
//     may it pass? reads only
//   void charge(const Policy&, S&, Instant now, std::int64_t units)
//     takes admitted (or counted rejected) units
//   Level level(const Policy&, const S&, Instant now)
//     what is left
//   Instant whole_at(const Policy&, const S&)
//     from then on S answers as a fresh S{} does
//
// A store first asks every claim of a request, then charges all of them or none.
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

/// The decision for one claim: `admission` was given before charging, `state` is after it.
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

/// One claim alone: admits, charges, reports. What tests and a single-limit caller want.
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
