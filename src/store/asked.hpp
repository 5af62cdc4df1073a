// A claim while the memory store decides its request, and the two steps of a decision: ask, settle.
//
// Claims of one request on one key form a chain in the request's order and share a state: units
// that an earlier one takes are not available to a later one. The caller holds the shard.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "rules/rules.hpp"
#include "store/claim.hpp"
#include "store/override.hpp"
#include "store/shard.hpp"

namespace weir::store {

struct Asked {
  const Claim* claim = nullptr;
  const rules::Policy* policy = nullptr;  ///< the numbers in force: the claim's, or an override's
  OverrideInForce override_in_force{};    ///< its numbers are valid as long as this
  rules::Decision* decision = nullptr;
  Shard* shard = nullptr;
  std::uint64_t hash = 0;
  Slot* slot = nullptr;   ///< nullptr: the key is absent
  Asked* next = nullptr;  ///< the next claim on the same key
  bool leads = true;      ///< the first claim on its key; it alone has `slot` set
  rules::Admission admission{};
};

/// True if the claim is decided without the key's state: by an override, or because it is exempt.
/// Nothing is read or charged then.
inline bool needs_no_state(const Asked& asked) {
  using rules::OverrideEffect;
  const OverrideEffect effect = asked.override_in_force.effect;
  return effect == OverrideEffect::unlimited || effect == OverrideEffect::denied ||
         (asked.claim->is_exempt && effect != OverrideEffect::numbers);
}

/// Charges a state for a claim.
template <class State>
void take(State& state, const Asked& asked, Instant now, std::int64_t units) {
  if constexpr (std::is_same_v<State, rules::AttributedWindowState>) {
    charge(*asked.policy, state, now, units, asked.claim->attributes);
  } else {
    charge(*asked.policy, state, now, units);
  }
}

/// The units that a claim takes: those of its admission, or the cost of a denied request that
/// counts.
inline std::int64_t units_due(const Asked& asked, bool admitted) {
  if (admitted && asked.admission.allowed) return asked.admission.units;
  return asked.policy->count_rejected ? asked.claim->demand.cost : 0;
}

/// A look (cost 0) does not show whether the key is being denied.
inline void mark(Slot& slot, const Asked& asked) {
  if (asked.claim->demand.cost > 0) slot.denied = !asked.admission.allowed;
}

/// Computes the admission of each claim as if the earlier ones had been charged. Charges nothing.
void ask(Asked& leader, Instant now);

/// Adds the override of a claim to its decision, or writes the decision if that needs no state.
void conclude_override(const Asked& asked);

/// Charges the claims that are allowed if the request is admitted, and those with count_rejected if
/// it is not. Then writes the decisions. May insert the key, which moves other slots of the shard.
void settle(Asked& leader, Instant now, bool admitted);

}  // namespace weir::store
