// Concurrency: at most `limit` units at the same time. A claim holds its units while the request
// runs, and settles with 0.
//
// The state is empty, because nothing is ever charged: all units in use are held (rules/holds.hpp).
// Implements the functions of rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// Always fresh.
struct ConcurrencyState {
  friend bool operator==(const ConcurrencyState&, const ConcurrencyState&) = default;
};

Admission admit(const Policy& policy, const ConcurrencyState& state, Instant now, Demand demand);
/// Does nothing.
void charge(const Policy& policy, ConcurrencyState& state, Instant now, std::int64_t units);
/// Does nothing: units in flight come back when their holds end.
void refund(const Policy& policy, ConcurrencyState& state, Instant now, std::int64_t units);
Level level(const Policy& policy, const ConcurrencyState& state, Instant now);
Instant whole_at(const Policy& policy, const ConcurrencyState& state);

}  // namespace weir::rules
