#include "limiter/condition.hpp"

#include <algorithm>

#include "routing/matcher.hpp"

namespace weir::limiter {

ConditionPart first_unmet_of_request(const Condition& condition,
                                     const identity::Evidence& evidence) {
  if (condition.address && !condition.address->contains(evidence.client))
    return ConditionPart::address;
  if (!condition.methods.empty() &&
      !routing::contains_method(condition.methods, evidence.request.method))
    return ConditionPart::methods;
  return ConditionPart::none;
}

ConditionPart unmet_plan(const Condition& condition, const PlanReading& reading) {
  if (reading.state == PlanReading::State::ambiguous) return ConditionPart::ambiguous_plan;
  if (reading.token_fault) return ConditionPart::invalid_plan;
  return lists_plan(condition, reading) ? ConditionPart::none : ConditionPart::plan;
}

bool lists_plan(const Condition& condition, const PlanReading& reading) {
  const auto plan = reading.found();
  return plan && std::ranges::find(condition.plans, *plan) != condition.plans.end();
}

}  // namespace weir::limiter
