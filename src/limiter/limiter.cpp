#include "limiter/limiter.hpp"

#include <algorithm>
#include <utility>

namespace weir::limiter {
namespace {

static_assert(limits_per_route <= store::claims_per_request);

/// True if one of `claims`, of another route, is for the same policy, terms and key; then that
/// claim takes the stricter demand of the two.
bool is_claimed(const Limit& limit, std::uint32_t policy_id, const rules::Policy& rule,
                const Hash128& identity, std::span<store::Claim> claims) {
  for (store::Claim& claim : claims) {
    if (claim.policy_id != policy_id || claim.identity != identity || claim.policy != &rule)
      continue;
    claim.demand.cost = std::max(claim.demand.cost, limit.cost);
    claim.demand.overdraft = claim.demand.overdraft && limit.overdraft;
    return true;
  }
  return false;
}

const Terms& terms_of(const Policy& policy, const PlannedTerms* planned) {
  return planned == nullptr ? policy : planned->terms;
}

std::uint32_t revision_of(const Policy& policy, const PlannedTerms* planned,
                          const PolicyRecord& record) {
  if (planned == nullptr) return record.revision;
  return record.revision + 1 + static_cast<std::uint32_t>(planned - policy.planned.data());
}

std::vector<PolicyRecord> new_records(std::size_t count) {
  std::vector<PolicyRecord> records;
  for (std::size_t i = 0; i < count; ++i)
    records.push_back(
        {.id = static_cast<std::uint32_t>(i), .counters = std::make_shared<PolicyCounters>()});
  return records;
}

}  // namespace

Limiter::Limiter(const Settings& config, store::Store& store, store::Decider decider,
                 std::vector<PolicyRecord> policies,
                 identity::TokenReadings::Counters token_counters, UnknownPlans* unknown_plans)
    : config_(config),
      store_(store),
      decider_(decider),
      policies_(policies.empty() ? new_records(config.policies.size()) : std::move(policies)),
      tokens_(config.token_providers, config.identity_key, std::move(token_counters)),
      identities_(config, tokens_),
      attributes_(config),
      unknown_plans_(unknown_plans) {}

const Verdict* Limiter::decide(Evaluation& evaluation, std::span<const RouteEvidence> routes,
                               store::Completion& completion, Instant now) {
  evaluation.clear();
  tokens_.begin(now);
  if (!make_claims(routes, evaluation)) return &evaluation.verdict;
  const std::size_t count = evaluation.claims.size();
  if (count == 0) {
    evaluation.verdict = {.decider = decider_, .plan = evaluation.plan};
    refuse_token(evaluation);
    return &evaluation.verdict;
  }
  // No exception may be thrown between an admission and its grant, so all memory is reserved
  // before.
  if (evaluation.decisions.size() < count) evaluation.decisions.resize(count);
  evaluation.limits.reserve(count);
  evaluation.acquisition = {
      .claims = evaluation.claims, .decisions = evaluation.decisions, .arrived_at = now};
  const auto result = store_.acquire(evaluation.acquisition, completion, now);
  return result ? &conclude(evaluation, *result) : nullptr;
}

bool Limiter::make_claims(std::span<const RouteEvidence> routes, Evaluation& evaluation) {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    identities_.forget();
    plan_.reset();
    const bool has_refusal = evaluation.token_refusal.has_value();
    const bool is_made = add_claims(routes[i], evaluation);
    if (!has_refusal && evaluation.token_refusal) evaluation.token_refusal->route = i;
    if (is_made) continue;
    evaluation.verdict.route = i;
    return false;
  }
  return true;
}

/// Appends the claims of one route.
bool Limiter::add_claims(const RouteEvidence& route, Evaluation& evaluation) {
  using State = identity::Resolution::State;
  auto& claims = evaluation.claims;
  const std::size_t earlier = claims.size();
  for (const Limit& limit : route.limits) {
    if (limit.when || limit.unless) {
      const Applies applies = meets_conditions(limit, route, evaluation);
      if (applies == Applies::refused) return false;
      if (applies == Applies::no) continue;
    }
    const PlannedTerms* planned = nullptr;
    if (!config_.policies[limit.policy].planned.empty()) {
      const Applies applies = choose_terms(limit, route, evaluation, planned);
      if (applies == Applies::refused) return false;
      if (applies == Applies::no) continue;
    }
    std::size_t index = limit.identity;
    const identity::Resolution* identity = &identities_.of(index, route.evidence);
    if (identity->state == State::absent && limit.otherwise) {
      index = *limit.otherwise;
      identity = &identities_.of(index, route.evidence);
    }
    if (identity->state == State::ambiguous) {
      if (config_.policies[limit.policy].shadow) continue;
      return refuse(evaluation, Outcome::identity_ambiguous, identity->ambiguity);
    }
    if (identity->state == State::invalid) {
      note_token(limit, identity->token_fault, evaluation);
      continue;
    }
    if (identity->state == State::absent) {
      if (limit.required) return refuse(evaluation, Outcome::identity_required);
      continue;
    }
    const Terms& terms = terms_of(config_.policies[limit.policy], planned);
    if (is_claimed(limit, policies_[limit.policy].id, terms.rule, identity->key,
                   std::span(claims).first(earlier)))
      continue;
    if (claims.size() == limits_per_route) return refuse(evaluation, Outcome::too_many_limits);
    if (!add_claim(limit, planned, {.hash = identity->key, .index = index}, route, evaluation))
      return false;
  }
  return true;
}

/// A condition that cannot be decided refuses the request: a client could choose its result. A
/// shadow policy does not apply then.
Limiter::Applies Limiter::meets_conditions(const Limit& limit, const RouteEvidence& route,
                                           Evaluation& evaluation) {
  const auto resolve = [&](std::size_t index) -> const identity::Resolution& {
    return identities_.of(index, route.evidence);
  };
  const auto plan = [&]() -> const PlanReading& { return plan_of(route, evaluation); };
  for (const auto* const condition : {&limit.when, &limit.unless}) {
    if (!*condition) continue;
    const ConditionPart unmet = first_unmet(**condition, route.evidence, resolve, plan);
    if (unmet == ConditionPart::ambiguous)
      return undecided(limit, resolve(*(*condition)->identity).ambiguity, evaluation);
    if (unmet == ConditionPart::ambiguous_plan)
      return undecided(limit, plan().ambiguity, evaluation);
    if (unmet == ConditionPart::invalid) {
      note_token(limit, resolve(*(*condition)->identity).token_fault, evaluation);
      return Applies::no;
    }
    if (unmet == ConditionPart::invalid_plan) {
      note_token(limit, *plan().token_fault, evaluation);
      return Applies::no;
    }
    const bool must_hold = condition == &limit.when;
    if ((unmet == ConditionPart::none) != must_hold) return Applies::no;
  }
  return Applies::yes;
}

/// The same ambiguity may come from a condition or from the plan.
Limiter::Applies Limiter::undecided(const Limit& limit, const identity::Ambiguity& ambiguity,
                                    Evaluation& evaluation) const {
  if (config_.policies[limit.policy].shadow) return Applies::no;
  refuse(evaluation, Outcome::identity_ambiguous, ambiguity);
  return Applies::refused;
}

/// Reads the plan once for each route.
const PlanReading& Limiter::plan_of(const RouteEvidence& route, Evaluation& evaluation) {
  if (plan_) return *plan_;
  plan_ = read_plan(config_.plans, route.evidence, tokens_,
                    [&](std::size_t index) { return identities_.of(index, route.evidence); });
  if (plan_->is_unknown && unknown_plans_ != nullptr) unknown_plans_->note(plan_->unknown_name);
  if (const auto plan = plan_->found(); plan && evaluation.plan == nullptr)
    evaluation.plan = &config_.plans.names[*plan];
  return *plan_;
}

/// Finds what the plan makes of the limit's policy: nullptr in `to` if nothing. With an invalid
/// token the limit applies with the numbers of the default plan, and the request is refused
/// afterwards.
Limiter::Applies Limiter::choose_terms(const Limit& limit, const RouteEvidence& route,
                                       Evaluation& evaluation, const PlannedTerms*& to) {
  const PlanReading& reading = plan_of(route, evaluation);
  if (reading.state == PlanReading::State::ambiguous)
    return undecided(limit, reading.ambiguity, evaluation);
  if (reading.token_fault) note_token(limit, *reading.token_fault, evaluation);
  if (const auto plan = reading.found()) to = config_.policies[limit.policy].under(*plan);
  return to != nullptr && to->unlimited ? Applies::no : Applies::yes;
}

/// A shadow policy with an ambiguous attribute, or one from an invalid token, does not apply.
bool Limiter::add_claim(const Limit& limit, const PlannedTerms* planned,
                        const KeyedIdentity& identity, const RouteEvidence& route,
                        Evaluation& evaluation) {
  const Policy& policy = config_.policies[limit.policy];
  std::span<const std::string_view> texts;
  if (!policy.attributes.empty()) {
    const auto attributes =
        attributes_.read(policy, route.evidence, tokens_, evaluation.attributes);
    if (attributes.ambiguity) {
      if (policy.shadow) return true;
      return refuse(evaluation, Outcome::identity_ambiguous, *attributes.ambiguity);
    }
    if (attributes.token_fault) {
      note_token(limit, *attributes.token_fault, evaluation);
      return true;
    }
    texts = attributes.texts;
  }
  const Terms& terms = terms_of(policy, planned);
  evaluation.claims.push_back(
      {.policy = &terms.rule,
       .local_rule = &terms.local_rule,
       .identity = identity.hash,
       .policy_id = policies_[limit.policy].id,
       .policy_revision = revision_of(policy, planned, policies_[limit.policy]),
       .shadow = policy.shadow,
       .on_failure = policy.on_failure,
       .demand = {.cost = limit.cost, .overdraft = limit.overdraft},
       .attributes = texts});
  evaluation.policies.push_back({.policy = &policy, .terms = &terms, .identity = identity.index});
  return true;
}

/// The limit does not apply, and unless its policy is a shadow policy, the request is refused after
/// the decision about its other limits.
void Limiter::note_token(const Limit& limit, const identity::TokenFault& fault,
                         Evaluation& evaluation) const {
  if (config_.policies[limit.policy].shadow || evaluation.token_refusal) return;
  evaluation.token_refusal = {.fault = fault};
}

/// Refuses a request that no limit denies, if its token is invalid.
void Limiter::refuse_token(Evaluation& evaluation) {
  if (!evaluation.token_refusal) return;
  Verdict& verdict = evaluation.verdict;
  if (verdict.outcome != Outcome::allowed && verdict.outcome != Outcome::unlimited) return;
  const auto& [fault, route] = *evaluation.token_refusal;
  verdict.outcome = fault.rejection ? Outcome::token_invalid : Outcome::token_unverifiable;
  verdict.token_fault = fault;
  verdict.route = route;
  verdict.delay = Duration{0};
}

bool Limiter::refuse(Evaluation& evaluation, Outcome outcome,
                     const identity::Ambiguity& ambiguity) const {
  evaluation.verdict = {
      .outcome = outcome, .decider = decider_, .ambiguity = ambiguity, .plan = evaluation.plan};
  return false;
}

const Verdict& Limiter::conclude(Evaluation& evaluation, const store::Result& result) {
  if (result.error != store::Error::none) {
    fail(evaluation, result);
    return evaluation.verdict;
  }
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    if (!store::contains(result.decided, i)) continue;
    const store::Claim& claim = evaluation.claims[i];
    if (!note_override(evaluation, i)) continue;
    evaluation.limits.push_back({.policy = evaluation.policies[i].policy,
                                 .terms = evaluation.policies[i].terms,
                                 .decision = evaluation.decisions[i],
                                 .cost = claim.demand.cost,
                                 .identity = claim.identity,
                                 .identity_index = evaluation.policies[i].identity});
  }
  evaluation.verdict = verdict_of(evaluation.limits, result.admitted, result.decider);
  evaluation.verdict.plan = evaluation.plan;
  refuse_token(evaluation);
  count_outcomes(evaluation.verdict);
  return evaluation.verdict;
}

/// Returns false for a claim that an override exempts: it does not limit the request.
bool Limiter::note_override(const Evaluation& evaluation, std::size_t claim) {
  const Policy& policy = *evaluation.policies[claim].policy;
  switch (evaluation.decisions[claim].override_effect) {
    case rules::OverrideEffect::unlimited:
      counters_of(policy).allowed.add();
      return false;
    case rules::OverrideEffect::malformed:
      if (on_malformed_override_) on_malformed_override_(policy, evaluation.claims[claim].identity);
      return true;
    default:
      return true;
  }
}

/// The store did not decide, and a policy denies then: the verdict names the first such policy.
void Limiter::fail(Evaluation& evaluation, const store::Result& result) {
  Verdict& verdict = evaluation.verdict;
  verdict = {.outcome = Outcome::failed, .decider = result.decider, .plan = evaluation.plan};
  for (const auto& [policy, terms, identity] : evaluation.policies) {
    if (policy->on_failure != OnFailure::deny || policy->shadow) continue;
    counters_of(*policy).error.add();
    if (verdict.deciding == nullptr) verdict.deciding = policy;
  }
}

void Limiter::count_outcomes(const Verdict& verdict) {
  for (const LimitVerdict& limit : verdict.limits) {
    PolicyCounters& counters = counters_of(*limit.policy);
    if (violated(limit)) {
      counters.denied.add();
    } else if (!limit.decision.allowed) {
      counters.shadow_denied.add();
    } else if (limit.decision.delay > Duration{0} && verdict.outcome == Outcome::allowed &&
               !limit.policy->shadow) {
      counters.delayed.add();
    } else {
      counters.allowed.add();
    }
  }
}

}  // namespace weir::limiter
