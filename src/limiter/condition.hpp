// Conditions of a limit, `when` and `unless`: the limit applies to a request only if all that is
// named in `when` holds, and not if all that is named in `unless` holds.
//
// Pure; allocates nothing; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address_list.hpp"
#include "identity/identity.hpp"
#include "limiter/plans.hpp"
#include "routing/matcher.hpp"

namespace weir::limiter {

/// Names at least one of these.
struct Condition {
  std::optional<AddressList> address{};   ///< contains the whole address of the client
  std::vector<std::string> methods{};     ///< contain the method; GET includes HEAD; empty: any
  std::optional<std::size_t> identity{};  ///< index into Options::identities: it is present
  std::vector<std::size_t> plans{};       ///< contain the request's plan; empty: any or none
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// A part of a condition that decides it.
enum class ConditionPart : std::uint8_t {
  none,       ///< everything that is named holds
  address,    ///< does not hold
  methods,    ///< does not hold
  identity,   ///< is absent
  plan,       ///< is another one, or there is none
  ambiguous,  ///< services may read another identity, so presence cannot be decided
  invalid,    ///< its token is invalid or cannot be verified yet: the identity counts as absent
  ambiguous_plan,  ///< services may read another identity than the one whose plan counts
  invalid_plan,    ///< as invalid, for the token that the plan comes from: the default plan counts
};

/// As first_unmet(), for the address and the methods.
inline ConditionPart first_unmet_of_request(const Condition& condition,
                                            const identity::Evidence& evidence) {
  if (condition.address && !condition.address->contains(evidence.client))
    return ConditionPart::address;
  if (!condition.methods.empty() &&
      !routing::contains_method(condition.methods, evidence.request.method))
    return ConditionPart::methods;
  return ConditionPart::none;
}

/// True if the condition names the plan that counts, also if that is the default because of an
/// invalid token.
inline bool lists_plan(const Condition& condition, const PlanReading& reading) {
  const auto plan = reading.found();
  return plan && std::ranges::find(condition.plans, *plan) != condition.plans.end();
}

/// As first_unmet(), for the plan.
inline ConditionPart unmet_plan(const Condition& condition, const PlanReading& reading) {
  if (reading.state == PlanReading::State::ambiguous) return ConditionPart::ambiguous_plan;
  if (reading.token_fault) return ConditionPart::invalid_plan;
  return lists_plan(condition, reading) ? ConditionPart::none : ConditionPart::plan;
}

/// Returns the first part that does not hold, in the order above. `resolve(index)` returns the
/// Resolution of an identity, `plan()` the PlanReading; each is called only if it is needed.
template <class Resolve, class Plan>
ConditionPart first_unmet(const Condition& condition, const identity::Evidence& evidence,
                          Resolve&& resolve, Plan&& plan) {
  using State = identity::Resolution::State;
  const ConditionPart unmet = first_unmet_of_request(condition, evidence);
  if (unmet != ConditionPart::none) return unmet;
  if (condition.identity) {
    const State state = resolve(*condition.identity).state;
    if (state == State::ambiguous) return ConditionPart::ambiguous;
    if (state == State::invalid) return ConditionPart::invalid;
    if (state == State::absent) return ConditionPart::identity;
  }
  return condition.plans.empty() ? ConditionPart::none : unmet_plan(condition, plan());
}

}  // namespace weir::limiter
