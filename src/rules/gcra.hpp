// GCRA (ITU-T I.371): the state of a limit is one instant, the theoretical arrival time (TAT).
//
// Implements the functions of every algorithm (see rules.hpp):
//   admit  may this demand pass now? reads only
//   charge takes the admitted units
//   level  what is left, and when it is more
// and whole_at: the instant from which the state equals a fresh one. All are pure. `now` must not
// go backwards for one state (the stores make sure of that); if it does, nothing is granted.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// The TAT is tat_us + fraction / count microseconds, 0 <= fraction < count. A fresh state is all
/// zero.
struct GcraState {
  std::int64_t tat_us = 0;
  std::int64_t fraction = 0;
  Instant at{};  ///< the latest charge: under another policy the TAT is at most one burst after it
  friend bool operator==(const GcraState&, const GcraState&) = default;
};

Admission admit(const Policy& policy, const GcraState& state, Instant now, Demand demand);
void charge(const Policy& policy, GcraState& state, Instant now, std::int64_t units);
/// Moves the TAT back, not before `now`.
void refund(const Policy& policy, GcraState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const GcraState& state, Instant now);
Instant whole_at(const Policy& policy, const GcraState& state);

}  // namespace weir::rules
