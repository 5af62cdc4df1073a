// Functions for gcra and leaky_bucket. Their state is one instant, the theoretical arrival time
// (TAT), and the instant of the latest charge.
//
// All is computed relative to `now`, as the time that the TAT is ahead of it. At its latest charge
// a TAT was at most one burst ahead. After a reload to a higher rate or a smaller burst it can be
// further ahead than a burst takes now; then it is read as one burst after the charge. (One burst
// after `now` would never end.)
#pragma once

#include <algorithm>

#include "rules/decision.hpp"
#include "rules/span.hpp"

namespace weir::rules {

/// The time that `capacity` units take: how far ahead the TAT may be.
inline Span burst_tolerance(const Policy& policy) {
  return span_of(policy, policy.capacity);
}

/// The TAT under `policy`, which a reload may have changed, as a span since the epoch.
template <class State>
Span arrival_of(const Policy& policy, const State& state) {
  const Span tolerance = burst_tolerance(policy);
  return std::min(Span{state.tat_us, std::min(state.fraction, policy.rates[0].count - 1)},
                  Span{to_us(state.at) + tolerance.us, tolerance.fraction});
}

template <class State>
Span ahead_of(const Policy& policy, const State& state, Instant now) {
  const Span arrival = arrival_of(policy, state);
  const std::int64_t us = arrival.us - to_us(now);
  return us < 0 ? Span{} : Span{us, arrival.fraction};
}

/// The time until a TAT that is `ahead` of now is only `allowed` ahead; zero or less if it is
/// already.
inline Duration wait_until(const Policy& policy, Span ahead, Span allowed) {
  return ceil_us(subtract(ahead, allowed, policy.rates[0].count));
}

/// Units that fit between `ahead` and the tolerance.
inline std::int64_t units_left(const Policy& policy, Span ahead) {
  const Span tolerance = burst_tolerance(policy);
  if (ahead >= tolerance) return 0;
  const Span spare = subtract(tolerance, ahead, policy.rates[0].count);
  return units_in(policy, spare.us, spare.fraction).whole;
}

/// Moves the TAT by `units`, never further ahead than the tolerance and never back.
template <class State>
void advance(const Policy& policy, State& state, Instant now, std::int64_t units) {
  if (units <= 0) return;
  const Span ahead = ahead_of(policy, state, now);
  const Span wanted =
      add(ahead, span_of(policy, std::min(units, policy.capacity)), policy.rates[0].count);
  const Span next = std::min(wanted, std::max(ahead, burst_tolerance(policy)));
  state.tat_us = to_us(now) + next.us;
  state.fraction = next.fraction;
  state.at = std::max(state.at, now);
}

/// Moves the TAT back by `units`, not before `now`.
template <class State>
void retreat(const Policy& policy, State& state, Instant now, std::int64_t units) {
  const Span ahead = ahead_of(policy, state, now);
  if (units <= 0 || ahead == Span{}) return;
  const Span back = span_of(policy, std::min(units, policy.capacity));
  const Span next = ahead > back ? subtract(ahead, back, policy.rates[0].count) : Span{};
  state.tat_us = to_us(now) + next.us;
  state.fraction = next.fraction;
  state.at = std::max(state.at, now);
}

template <class State>
Instant whole_of(const Policy& policy, const State& state) {
  return Instant{ceil_us(arrival_of(policy, state))};
}

}  // namespace weir::rules
