// The start and end of fixed windows, for fixed_window and attributed_window. Pure.
#pragma once

#include <algorithm>

#include "rules/decision.hpp"
#include "rules/policy.hpp"
#include "rules/span.hpp"

namespace weir::rules {

/// The start of the window that a request at `now` opens.
inline Instant window_start(const Policy& policy, Instant now) {
  if (policy.anchor == Anchor::first_request) return now;
  const std::int64_t per = to_us(policy.rates[0].per);
  return instant_from_us(floor_div(to_us(now), per) * per);
}

/// The first instant after the window that began at `start`. If the policy has changed and `start`
/// is not aligned, the aligned window around it is meant.
inline Instant window_end(const Policy& policy, Instant start) {
  return window_start(policy, start) + policy.rates[0].per;
}

/// The units of `state` ({start, used}) that still count at `now`; a `now` before its start is
/// within the window.
template <class State>
std::int64_t used_at(const Policy& policy, const State& state, Instant now) {
  return state.used > 0 && now < window_end(policy, state.start) ? state.used : 0;
}

template <class State>
Admission admit_in_window(const Policy& policy, const State& state, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const std::int64_t left =
      policy.capacity - std::min(used_at(policy, state, now), policy.capacity);
  if (cost <= left) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = left};
  if (cost > policy.capacity) return {};
  return {.retry_after = window_end(policy, state.start) - now};
}

template <class State>
Level level_of_window(const Policy& policy, const State& state, Instant now) {
  const std::int64_t used = used_at(policy, state, now);
  if (used == 0) return {.remaining = policy.capacity};
  const Duration rest = window_end(policy, state.start) - now;
  return {.remaining = policy.capacity - std::min(used, policy.capacity),
          .reset_after = rest,
          .more_after = rest};
}

template <class State>
Instant end_of_window(const Policy& policy, const State& state) {
  return state.used > 0 ? window_end(policy, state.start) : Instant{};
}

}  // namespace weir::rules
