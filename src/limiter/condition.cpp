#include "limiter/condition.hpp"

#include "routing/matcher.hpp"

namespace weir::limiter {

ConditionPart first_unmet_apart_from_identity(const Condition& condition,
                                              const identity::Evidence& evidence) {
  if (condition.address && !condition.address->contains(evidence.client))
    return ConditionPart::address;
  if (!condition.methods.empty() &&
      !routing::contains_method(condition.methods, evidence.request.method))
    return ConditionPart::methods;
  return ConditionPart::none;
}

}  // namespace weir::limiter
