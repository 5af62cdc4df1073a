#include "limiter/limiter.hpp"

#include <algorithm>
#include <utility>

namespace weir::limiter {
namespace {

static_assert(limits_per_route <= store::claims_per_request);

/// True if one of `claims`, of another route, is for the same policy and key; then that claim takes
/// the stricter demand of the two.
bool is_claimed(const Limit& limit, std::uint32_t policy_id, const Hash128& identity,
                std::span<store::Claim> claims) {
  for (store::Claim& claim : claims) {
    if (claim.policy_id != policy_id || claim.identity != identity) continue;
    claim.demand.cost = std::max(claim.demand.cost, limit.cost);
    claim.demand.overdraft = claim.demand.overdraft && limit.overdraft;
    return true;
  }
  return false;
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
                 identity::TokenReadings::Counters token_counters)
    : config_(config),
      store_(store),
      decider_(decider),
      policies_(policies.empty() ? new_records(config.policies.size()) : std::move(policies)),
      tokens_(config.token_providers, config.identity_key, std::move(token_counters)),
      identities_(config, tokens_),
      attributes_(config) {}

const Verdict* Limiter::decide(Evaluation& evaluation, std::span<const RouteEvidence> routes,
                               store::Completion& completion, Instant now) {
  evaluation.clear();
  tokens_.begin(now);
  if (!make_claims(routes, evaluation)) return &evaluation.verdict;
  const std::size_t count = evaluation.claims.size();
  if (count == 0) {
    evaluation.verdict = {.decider = decider_};
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
    const identity::Resolution* identity = &identities_.of(limit.identity, route.evidence);
    if (identity->state == State::absent && limit.otherwise)
      identity = &identities_.of(*limit.otherwise, route.evidence);
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
    if (is_claimed(limit, policies_[limit.policy].id, identity->key,
                   std::span(claims).first(earlier)))
      continue;
    if (claims.size() == limits_per_route) return refuse(evaluation, Outcome::too_many_limits);
    if (!add_claim(limit, identity->key, route, evaluation)) return false;
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
  for (const auto* const condition : {&limit.when, &limit.unless}) {
    if (!*condition) continue;
    const ConditionPart unmet = first_unmet(**condition, route.evidence, resolve);
    if (unmet == ConditionPart::ambiguous) {
      if (config_.policies[limit.policy].shadow) return Applies::no;
      refuse(evaluation, Outcome::identity_ambiguous, resolve(*(*condition)->identity).ambiguity);
      return Applies::refused;
    }
    if (unmet == ConditionPart::invalid) {
      note_token(limit, resolve(*(*condition)->identity).token_fault, evaluation);
      return Applies::no;
    }
    const bool must_hold = condition == &limit.when;
    if ((unmet == ConditionPart::none) != must_hold) return Applies::no;
  }
  return Applies::yes;
}

/// A shadow policy with an ambiguous attribute, or one from an invalid token, does not apply.
bool Limiter::add_claim(const Limit& limit, const Hash128& identity, const RouteEvidence& route,
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
  const Terms& terms = policy;
  evaluation.claims.push_back({.policy = &terms.rule,
                               .local_rule = &terms.local_rule,
                               .identity = identity,
                               .policy_id = policies_[limit.policy].id,
                               .policy_revision = policies_[limit.policy].revision,
                               .shadow = policy.shadow,
                               .on_failure = policy.on_failure,
                               .demand = {.cost = limit.cost, .overdraft = limit.overdraft},
                               .attributes = texts});
  evaluation.policies.push_back({.policy = &policy, .terms = &terms});
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
  evaluation.verdict = {.outcome = outcome, .decider = decider_, .ambiguity = ambiguity};
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
    evaluation.limits.push_back({.policy = evaluation.policies[i].policy,
                                 .terms = evaluation.policies[i].terms,
                                 .decision = evaluation.decisions[i],
                                 .cost = claim.demand.cost,
                                 .identity = claim.identity});
  }
  evaluation.verdict = verdict_of(evaluation.limits, result.admitted, result.decider);
  refuse_token(evaluation);
  count_outcomes(evaluation.verdict);
  return evaluation.verdict;
}

/// The store did not decide, and a policy denies then: the verdict names the first such policy.
void Limiter::fail(Evaluation& evaluation, const store::Result& result) {
  Verdict& verdict = evaluation.verdict;
  verdict = {.outcome = Outcome::failed, .decider = result.decider};
  for (const auto& [policy, terms] : evaluation.policies) {
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
