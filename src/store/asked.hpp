// A claim while the memory store decides its request, and the two steps of a decision: ask, settle.
//
// Claims of one request on one key form a chain in the request's order and share a state: units
// that an earlier one takes are not available to a later one. The caller holds the shard.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "rules/decision.hpp"
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

/// True if an override decides the claim alone: nothing is read or charged.
inline bool is_decided_by_override(const Asked& asked) {
  return asked.override_in_force.effect == rules::OverrideEffect::unlimited ||
         asked.override_in_force.effect == rules::OverrideEffect::denied;
}

/// Computes the admission of each claim as if the earlier ones had been charged. Charges nothing.
void ask(Asked& leader, Instant now);

/// Adds the override of a claim to its decision, or writes the decision if the override decides.
void conclude_override(const Asked& asked);

/// Charges the claims that are allowed if the request is admitted, and those with count_rejected if
/// it is not. Then writes the decisions. May insert the key, which moves other slots of the shard.
void settle(Asked& leader, Instant now, bool admitted);

}  // namespace weir::store
