#include "proxy/decision_record.hpp"

#include <algorithm>

#include <boost/container/static_vector.hpp>

namespace weir::proxy {

void DecisionRecord::clear() {
  outcome = limiter::Outcome::unlimited;
  ambiguity = {};
  rejection.reset();
  decider = limiter::Decider::memory;
  shadow_denied = is_report = false;
  policy = nullptr;
  plan = nullptr;
  identity.reset();
  cost = remaining = 0;
  reserved.reset();
  settled_by = {};
  delay = queued = took = Duration{0};
  retry_after.reset();
  limit_fields.clear();
  violated.clear();
  denied.clear();
  others.clear();
  queue_steps.clear();
}

void DecisionRecord::note_queue_step(Instant at) {
  if (queue_steps.size() == most_queue_steps) queue_steps.erase(queue_steps.begin() + 1);
  queue_steps.push_back(at);
}

void DecisionRecord::take(const limiter::Verdict& verdict, const http::ResponseFieldOptions& fields,
                          std::span<const identity::Definition> identities) {
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
    } else {
      others.push_back({.policy = limit.policy->name,
                        .identity = limit.identity,
                        .identity_kind = identities[limit.identity_index].name,
                        .cost = limit.cost});
    }
    if (!decision.allowed)
      denied.push_back({.policy = limit.policy->name,
                        .shadow = limit.policy->shadow,
                        .remaining = decision.remaining});
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
  http::add_rate_limit_fields(limit_fields, {reports.data(), reports.size()}, fields);
}

void DecisionRecord::settled(const limiter::HeldUnits& held) {
  for (std::size_t i = 0; i < held.limits.size(); ++i) {
    const limiter::HeldLimit& hold = held.limits[i];
    if (hold.policy != policy) {
      const auto other = std::ranges::find(others, hold.policy->name, &log::OtherLimit::policy);
      if (other == others.end()) continue;
      other->reserved = held.settlements[i].held;
      other->cost = held.settlements[i].actual;
      continue;
    }
    reserved = held.settlements[i].held;
    cost = held.settlements[i].actual;
    if (hold.by) settled_by = limiter::settled_by_names[static_cast<std::size_t>(*hold.by)];
  }
}

void DecisionRecord::reported(const limiter::HeldUnits& held,
                              std::span<const limiter::Policy> policies) {
  const auto charges = [](const limiter::HeldLimit& limit) { return limit.charge != nullptr; };
  const auto found = std::ranges::find_if(held.limits, charges);
  const auto shown = static_cast<std::size_t>(
      (found == held.limits.end() ? held.limits.begin() : found) - held.limits.begin());
  const limiter::HeldLimit& limit = held.limits[shown];
  is_report = true;
  const auto running = std::ranges::find(policies, limit.policy->name, &limiter::Policy::name);
  policy = running == policies.end() ? nullptr : &*running;
  reserved = held.settlements[shown].held;
  cost = held.settlements[shown].actual;
  if (limit.by) settled_by = limiter::settled_by_names[static_cast<std::size_t>(*limit.by)];
}

log::AccessDecision decision_of(const DecisionRecord& decision) {
  switch (decision.outcome) {
    case limiter::Outcome::unlimited:
      return log::AccessDecision::none;
    case limiter::Outcome::denied:
    case limiter::Outcome::forbidden:
      return log::AccessDecision::denied;
    case limiter::Outcome::identity_required:
    case limiter::Outcome::too_many_limits:
    case limiter::Outcome::identity_ambiguous:
    case limiter::Outcome::token_invalid:
    case limiter::Outcome::token_unverifiable:
    case limiter::Outcome::failed:
      return log::AccessDecision::error;
    case limiter::Outcome::allowed:
      break;
  }
  if (decision.shadow_denied) return log::AccessDecision::shadow_denied;
  return decision.delay + decision.queued > Duration{0} ? log::AccessDecision::delayed
                                                        : log::AccessDecision::allowed;
}

}  // namespace weir::proxy
