#include "proxy/decision_record.hpp"

#include <boost/container/static_vector.hpp>

namespace weir::proxy {

void DecisionRecord::clear() {
  outcome = limiter::Outcome::unlimited;
  ambiguity = {};
  rejection.reset();
  decider = limiter::Decider::memory;
  shadow_denied = false;
  policy = nullptr;
  plan = nullptr;
  identity.reset();
  cost = remaining = 0;
  delay = took = Duration{0};
  retry_after.reset();
  limit_fields.clear();
  violated.clear();
}

void DecisionRecord::take(const limiter::Verdict& verdict,
                          const http::ResponseFieldOptions& fields) {
  outcome = verdict.outcome;
  ambiguity = verdict.ambiguity;
  rejection = verdict.token_fault.rejection;
  decider = verdict.decider;
  shadow_denied = verdict.shadow_denied;
  delay = verdict.delay;
  retry_after = verdict.retry_after;
  policy = verdict.deciding;
  plan = verdict.plan;
  boost::container::static_vector<http::PolicyReport, limiter::limits_per_route> reports;
  for (const auto& limit : verdict.limits) {
    const auto& decision = limit.decision;
    if (limit.policy == verdict.deciding) {
      identity = limit.identity;
      identity_index = limit.identity_index;
      cost = limit.cost;
      remaining = decision.remaining;
    }
    if (!limit.policy->visible || limiter::forbidden(limit)) continue;
    if (!decision.allowed && !limit.policy->shadow) violated.push_back(limit.policy->name);
    reports.push_back({.policy_item = limit.terms->policy_item,
                       .name_item = limit.policy->name_item,
                       .limit = decision.limit,
                       .remaining = decision.remaining,
                       .reset_after = decision.reset_after,
                       .more_after = decision.more_after,
                       .refill = decision.refill,
                       .partition = limit.identity});
  }
  http::append_rate_limit_fields(limit_fields, {reports.data(), reports.size()}, fields);
}

}  // namespace weir::proxy
