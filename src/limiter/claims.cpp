#include "limiter/claims.hpp"

#include <algorithm>
#include <utility>

#include "http/request_view.hpp"

namespace weir::limiter {
namespace {

static_assert(limits_per_route <= store::claims_per_request);

bool is_exempt(const PlannedTerms* planned) {
  return planned != nullptr && planned->unlimited;
}

bool is_same(const Charge* a, const Charge* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

/// Merges the claim with one of the `earlier` claims, of another route, that is for the same policy
/// and key. Returns its index; empty: there is none. With equal terms the earlier claim takes the
/// stricter demand. An exempt claim adds nothing to another, and is replaced by one that is not
/// exempt. If the two do not charge the same responses, the cost is charged at once, which is the
/// stricter way.
std::optional<std::size_t> merge(const store::Claim& claim, const AppliedPolicy& applied,
                                 std::size_t earlier, Evaluation& evaluation) {
  for (std::size_t i = 0; i < earlier; ++i) {
    store::Claim& other = evaluation.claims[i];
    if (other.policy_id != claim.policy_id || other.identity != claim.identity) continue;
    if (claim.is_exempt) return i;
    if (other.is_exempt) {
      const auto attributes = other.attributes;
      other = claim;
      other.attributes = attributes;
      evaluation.has_holds |= claim.holds;
      evaluation.policies[i] = applied;
      return i;
    }
    if (other.policy != claim.policy) continue;
    other.holds =
        other.holds && claim.holds && is_same(evaluation.policies[i].charge, applied.charge);
    other.demand.cost = std::max(other.demand.cost, claim.demand.cost);
    other.demand.overdraft = other.demand.overdraft && claim.demand.overdraft;
    return i;
  }
  return std::nullopt;
}

/// The limit does not apply, and unless its policy is a shadow policy, the request is refused after
/// the decision about its other limits.
void note_token(const Policy& policy, const identity::TokenFault& fault, Evaluation& evaluation) {
  if (policy.shadow || evaluation.token_refusal) return;
  evaluation.token_refusal = {.fault = fault};
}

/// `limit` is one of the route's.
std::int64_t cost_of(const Limit& limit, const RouteEvidence& route) {
  if (!limit.charge || !limit.charge->reserve) return limit.cost;
  const auto index = static_cast<std::size_t>(&limit - route.limits.data());
  return units_of(*limit.charge->reserve, route.evidence.request,
                  route.stated.empty() ? std::nullopt : route.stated[index]);
}

Fate refuse(Evaluation& evaluation, Outcome outcome, Fate fate) {
  evaluation.verdict = {.outcome = outcome, .plan = evaluation.plan};
  return fate;
}

/// Services may read another value than Weir. A shadow policy does not apply then.
Fate undecided(const Policy& policy, const identity::Ambiguity& ambiguity, Evaluation& evaluation) {
  if (policy.shadow) return Fate::ambiguous;
  refuse(evaluation, Outcome::identity_ambiguous, Fate::ambiguous);
  evaluation.verdict.ambiguity = ambiguity;
  return Fate::ambiguous;
}

bool refuses(Fate fate, const Policy& policy) {
  return fate >= Fate::ambiguous && !(fate == Fate::ambiguous && policy.shadow);
}

/// Records nothing, and costs nothing.
struct NoRecorder {
  void begin(std::size_t, const Limit&) {}
  void condition(const TracedCondition&) {}
  void identity(std::size_t, const identity::Resolution&) {}
  void terms(const PlannedTerms*) {}
  void end(Fate, std::size_t) {}
  void plan(const std::optional<PlanReading>&) {}
};

struct TraceRecorder {
  void begin(std::size_t route, const Limit& limit) {
    trace.limits.push_back({.route = route, .limit = &limit});
  }
  void condition(const TracedCondition& condition) {
    trace.limits.back().conditions.push_back(condition);
  }
  void identity(std::size_t index, const identity::Resolution& resolution) {
    trace.limits.back().identities.push_back({index, resolution});
  }
  void terms(const PlannedTerms* planned) { trace.limits.back().planned = planned; }
  void end(Fate fate, std::size_t claim) {
    trace.limits.back().fate = fate;
    trace.limits.back().claim = claim;
  }
  void plan(const std::optional<PlanReading>& reading) {
    if (reading) trace.plan = reading;
  }
  Trace& trace;
};

}  // namespace

ClaimMaker::ClaimMaker(const Options& options, std::span<const PolicyRecord> policies,
                       identity::TokenReadings::Counters token_counters,
                       UnknownPlans* unknown_plans)
    : options_(options),
      policies_(policies),
      local_shares_(options.policies),
      tokens_(options.token_providers, options.identity_key, std::move(token_counters)),
      identities_(options, tokens_),
      attributes_(options),
      unknown_plans_(unknown_plans) {}

bool ClaimMaker::make(std::span<const RouteEvidence> routes, Evaluation& evaluation, Instant now,
                      Trace* trace) {
  tokens_.begin(now);
  if (trace != nullptr) return make_all(routes, evaluation, TraceRecorder{*trace});
  return make_all(routes, evaluation, NoRecorder{});
}

template <class Recorder>
bool ClaimMaker::make_all(std::span<const RouteEvidence> routes, Evaluation& evaluation,
                          Recorder recorder) {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    identities_.forget();
    plan_.reset();
    const bool has_refusal = evaluation.token_refusal.has_value();
    const bool is_made =
        add_claims({.route = routes[i], .index = i, .evaluation = evaluation}, recorder);
    recorder.plan(plan_);
    if (!has_refusal && evaluation.token_refusal) evaluation.token_refusal->route = i;
    if (is_made) continue;
    evaluation.verdict.route = i;
    return false;
  }
  return true;
}

/// Adds the claims of one route.
template <class Recorder>
bool ClaimMaker::add_claims(const Reading& reading, Recorder& recorder) {
  const std::size_t earlier = reading.evaluation.claims.size();
  const bool is_preflight = http::is_preflight(reading.route.evidence.request);
  for (const Limit& limit : reading.route.limits) {
    const Policy& policy = options_.policies[limit.policy];
    recorder.begin(reading.index, limit);
    if (is_preflight && !policy.charges_preflight) {
      recorder.end(Fate::preflight, 0);
      continue;
    }
    std::size_t claim = reading.evaluation.claims.size();
    const Fate fate = apply(limit, earlier, reading, claim, recorder);
    recorder.end(fate, claim);
    if (refuses(fate, policy)) return false;
  }
  return true;
}

/// Adds the claim of one limit, if it applies. `index`: the next one; set to that of the claim with
/// which it was merged.
template <class Recorder>
Fate ClaimMaker::apply(const Limit& limit, std::size_t earlier, const Reading& reading,
                       std::size_t& index, Recorder& recorder) {
  using State = identity::Resolution::State;
  const Policy& policy = options_.policies[limit.policy];
  Evaluation& evaluation = reading.evaluation;
  if (limit.when || limit.unless) {
    if (const auto fate = unmet_condition(limit, reading, recorder)) return *fate;
  }
  const PlannedTerms* planned = nullptr;
  if (!policy.planned.empty()) {
    const PlanReading& plan = plan_of(reading);
    if (plan.state == PlanReading::State::ambiguous)
      return undecided(policy, plan.ambiguity, evaluation);
    // With an invalid token the limit applies with the numbers of the default plan, and the request
    // is refused afterwards.
    if (plan.token_fault) note_token(policy, *plan.token_fault, evaluation);
    if (const auto found = plan.found()) planned = policy.under(*found);
    recorder.terms(planned);
  }
  std::size_t used = limit.identity;
  const identity::Resolution* identity = &identities_.of(used, reading.route.evidence);
  recorder.identity(used, *identity);
  if (identity->state == State::absent && limit.otherwise) {
    used = *limit.otherwise;
    identity = &identities_.of(used, reading.route.evidence);
    recorder.identity(used, *identity);
  }
  switch (identity->state) {
    case State::ambiguous:
      return undecided(policy, identity->ambiguity, evaluation);
    case State::invalid:
      note_token(policy, identity->token_fault, evaluation);
      return Fate::token_invalid;
    case State::absent:
      if (limit.required && !is_exempt(planned))
        return refuse(evaluation, Outcome::identity_required, Fate::required);
      return Fate::identity_absent;
    case State::found:
      break;
  }
  const AppliedPolicy applied{.policy = &policy,
                              .terms = &policy.terms_of(planned),
                              .identity = used,
                              .charge = limit.charge ? &*limit.charge : nullptr};
  const store::Claim claim = claim_of(limit, reading.route, planned, *applied.terms, identity->key);
  if (const auto other = merge(claim, applied, earlier, evaluation)) {
    index = *other;
    return Fate::merged;
  }
  if (evaluation.claims.size() == limits_per_route)
    return refuse(evaluation, Outcome::too_many_limits, Fate::too_many);
  return add_claim(claim, applied, reading);
}

/// Empty: the conditions hold. A condition that cannot be decided refuses the request: a client
/// could choose its result. With an invalid token an identity counts as absent and the plan is the
/// default, so that limits bound failed verifications; the request is refused afterwards.
template <class Recorder>
std::optional<Fate> ClaimMaker::unmet_condition(const Limit& limit, const Reading& reading,
                                                Recorder& recorder) {
  const identity::Evidence& evidence = reading.route.evidence;
  const auto resolve = [&](std::size_t index) -> const identity::Resolution& {
    return identities_.of(index, evidence);
  };
  const auto plan = [&]() -> const PlanReading& { return plan_of(reading); };
  const Policy& policy = options_.policies[limit.policy];
  for (const auto* const condition : {&limit.when, &limit.unless}) {
    if (!*condition) continue;
    const bool must_hold = condition == &limit.when;
    const ConditionPart unmet = first_unmet(**condition, evidence, resolve, plan);
    bool holds = unmet == ConditionPart::none;
    if (unmet == ConditionPart::invalid_plan) holds = lists_plan(**condition, plan());
    recorder.condition({.is_when = must_hold, .unmet = unmet, .holds = holds});
    if (unmet == ConditionPart::ambiguous)
      return undecided(policy, resolve(*(*condition)->identity).ambiguity, reading.evaluation);
    if (unmet == ConditionPart::ambiguous_plan)
      return undecided(policy, plan().ambiguity, reading.evaluation);
    if (unmet == ConditionPart::invalid)
      note_token(policy, resolve(*(*condition)->identity).token_fault, reading.evaluation);
    if (unmet == ConditionPart::invalid_plan)
      note_token(policy, *plan().token_fault, reading.evaluation);
    if (holds != must_hold) return Fate::condition;
  }
  return std::nullopt;
}

/// The terms of the plan of its identity; nullptr: those of the policy, or its own.
const PlannedTerms* ClaimMaker::planned_for(const StatedClaim& stated) const {
  const Policy& policy = options_.policies[stated.policy];
  if (stated.terms != nullptr || policy.planned.empty()) return nullptr;
  const auto plan = limiter::plan_of(options_.plans, stated.identity_index, stated.identity);
  return plan ? policy.under(*plan) : nullptr;
}

const rules::Policy* ClaimMaker::numbers_of(const StatedClaim& stated) const {
  if (stated.terms != nullptr) return &stated.terms->terms.numbers;
  const PlannedTerms* const planned = planned_for(stated);
  return is_exempt(planned) ? nullptr : &options_.policies[stated.policy].terms_of(planned).numbers;
}

void ClaimMaker::add(const StatedClaim& stated, Evaluation& evaluation) const {
  const Policy& policy = options_.policies[stated.policy];
  const PolicyRecord& record = policies_[stated.policy];
  const StatedTerms* const own = stated.terms;
  const PlannedTerms* const planned = planned_for(stated);
  const std::size_t index = policy.index_of(planned);
  const LocalShare& share = own != nullptr ? own->local : local_shares_.of(stated.policy, index);
  const Terms& terms = own != nullptr ? own->terms : policy.terms_of(planned);
  const bool may_lease = policy.lease && own == nullptr && !is_exempt(planned) && !stated.holds;
  evaluation.claims.push_back(
      {.policy = &terms.numbers,
       .local_policy = &share.numbers,
       .identity = stated.identity,
       .policy_id = record.id,
       .policy_revision =
           record.revision + (own != nullptr ? own->revision : static_cast<std::uint32_t>(index)),
       .shadow = policy.shadow,
       .is_exempt = is_exempt(planned),
       .holds = stated.holds,
       .on_failure = is_exempt(planned) ? OnFailure::allow : share.on_failure,
       .demand = {.cost = stated.cost, .overdraft = stated.overdraft},
       .attributes = {},
       .lease = may_lease ? &record.counters->leased : nullptr});
  evaluation.has_holds |= stated.holds;
  evaluation.policies.push_back(
      {.policy = &policy, .terms = &terms, .identity = stated.identity_index});
}

/// Reads the plan once for each route.
const PlanReading& ClaimMaker::plan_of(const Reading& reading) {
  if (plan_) return *plan_;
  plan_ = read_plan(options_.plans, reading.route.evidence, tokens_, [&](std::size_t index) {
    return identities_.of(index, reading.route.evidence);
  });
  if (plan_->is_unknown && unknown_plans_ != nullptr)
    unknown_plans_->note(plan_->unknown_name, plan_->source.value_or(0));
  if (const auto plan = plan_->found(); plan && reading.evaluation.plan == nullptr)
    reading.evaluation.plan = &options_.plans.names[*plan];
  return *plan_;
}

/// Without a store the plan of an exempt client counts.
store::Claim ClaimMaker::claim_of(const Limit& limit, const RouteEvidence& route,
                                  const PlannedTerms* planned, const Terms& terms,
                                  const Hash128& identity) const {
  const Policy& policy = options_.policies[limit.policy];
  const PolicyRecord& record = policies_[limit.policy];
  const std::size_t index = policy.index_of(planned);
  const LocalShare& share = local_shares_.of(limit.policy, index);
  const bool may_lease = is_leasable(limit, policy) && !is_exempt(planned);
  return {.policy = &terms.numbers,
          .local_policy = &share.numbers,
          .identity = identity,
          .policy_id = record.id,
          .policy_revision = record.revision + static_cast<std::uint32_t>(index),
          .shadow = policy.shadow,
          .is_exempt = is_exempt(planned),
          .holds = holds_cost(limit, policy),
          .on_failure = is_exempt(planned) ? OnFailure::allow : share.on_failure,
          .demand = {.cost = cost_of(limit, route), .overdraft = limit.overdraft},
          .attributes = {},
          .lease = may_lease ? &record.counters->leased : nullptr};
}

/// A limit whose attributes cannot be read does not apply.
Fate ClaimMaker::add_claim(const store::Claim& claim, const AppliedPolicy& applied,
                           const Reading& reading) {
  const Policy& policy = *applied.policy;
  Evaluation& evaluation = reading.evaluation;
  std::span<const std::string_view> texts;
  if (!policy.attributes.empty()) {
    const auto attributes =
        attributes_.read(policy, reading.route.evidence, tokens_, evaluation.attributes);
    if (attributes.ambiguity) return undecided(policy, *attributes.ambiguity, evaluation);
    if (attributes.token_fault) {
      note_token(policy, *attributes.token_fault, evaluation);
      return Fate::token_invalid;
    }
    texts = attributes.texts;
  }
  evaluation.has_holds |= claim.holds;
  evaluation.claims.push_back(claim);
  evaluation.claims.back().attributes = texts;
  evaluation.policies.push_back(applied);
  return Fate::claimed;
}

}  // namespace weir::limiter
