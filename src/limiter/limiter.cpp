#include "limiter/limiter.hpp"

#include <algorithm>
#include <utility>

#include "http/request_view.hpp"
#include "limiter/waiting.hpp"

namespace weir::limiter {
namespace {

static_assert(limits_per_route <= store::claims_per_request);

bool is_exempt(const PlannedTerms* planned) {
  return planned != nullptr && planned->unlimited;
}

bool is_same(const Charge* a, const Charge* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

/// True if one of the `earlier` claims, of another route, is for the same policy and key, and makes
/// this one superfluous: of equal terms it takes the stricter demand, and an exempt claim adds
/// nothing to another. An exempt claim becomes this one. If the two do not charge the same
/// responses, the cost is charged at once, which is the stricter way.
bool is_claimed(const store::Claim& claim, const AppliedPolicy& applied, std::size_t earlier,
                Evaluation& evaluation) {
  for (std::size_t i = 0; i < earlier; ++i) {
    store::Claim& other = evaluation.claims[i];
    if (other.policy_id != claim.policy_id || other.identity != claim.identity) continue;
    if (claim.is_exempt) return true;
    if (other.is_exempt) {
      const auto attributes = other.attributes;
      other = claim;
      other.attributes = attributes;
      evaluation.has_holds |= claim.holds;
      evaluation.policies[i] = applied;
      return true;
    }
    if (other.policy != claim.policy) continue;
    other.holds =
        other.holds && claim.holds && is_same(evaluation.policies[i].charge, applied.charge);
    other.demand.cost = std::max(other.demand.cost, claim.demand.cost);
    other.demand.overdraft = other.demand.overdraft && claim.demand.overdraft;
    return true;
  }
  return false;
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

/// Refuses a request that no limit denies, if its token is invalid.
void refuse_token(Evaluation& evaluation) {
  if (!evaluation.token_refusal) return;
  Verdict& verdict = evaluation.verdict;
  if (verdict.outcome != Outcome::allowed && verdict.outcome != Outcome::unlimited) return;
  const auto& [fault, route] = *evaluation.token_refusal;
  verdict.outcome = fault.rejection ? Outcome::token_invalid : Outcome::token_unverifiable;
  verdict.token_fault = fault;
  verdict.route = route;
  verdict.delay = Duration{0};
}

std::vector<PolicyRecord> new_records(std::size_t count) {
  std::vector<PolicyRecord> records;
  for (std::size_t i = 0; i < count; ++i)
    records.push_back(
        {.id = static_cast<std::uint32_t>(i), .counters = std::make_shared<PolicyCounters>()});
  return records;
}

/// Throws nothing: an admitted request has no grant yet.
void report(const Limiter::OnMalformedOverride& on_malformed, const Policy& policy,
            const Hash128& identity) noexcept {
  try {
    if (on_malformed) on_malformed(policy, identity);
  } catch (const std::exception&) {
    // no memory for the report; the next request makes it
  }
}

}  // namespace

Limiter::Limiter(const Options& options, store::Store& store, store::Decider decider,
                 std::vector<PolicyRecord> policies,
                 identity::TokenReadings::Counters token_counters, UnknownPlans* unknown_plans,
                 SlotQueue* queue)
    : options_(options),
      store_(store),
      decider_(decider),
      policies_(policies.empty() ? new_records(options.policies.size()) : std::move(policies)),
      local_shares_(options.policies),
      tokens_(options.token_providers, options.identity_key, std::move(token_counters)),
      identities_(options, tokens_),
      attributes_(options),
      unknown_plans_(unknown_plans),
      queue_(queue) {}

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
  if (evaluation.has_holds) {
    evaluation.held.settlements.reserve(count);
    evaluation.held.limits.reserve(count);
    evaluation.may_wait = queue_ != nullptr && has_queue(evaluation);
    if (evaluation.may_wait) hold_back_if_others_wait(evaluation, *queue_);
  }
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
  const bool is_preflight = http::is_preflight(route.evidence.request);
  for (const Limit& limit : route.limits) {
    const Policy& policy = options_.policies[limit.policy];
    if (is_preflight && !policy.charges_preflight) continue;
    if (limit.when || limit.unless) {
      const Applies applies = meets_conditions(limit, route, evaluation);
      if (applies == Applies::refused) return false;
      if (applies == Applies::no) continue;
    }
    const PlannedTerms* planned = nullptr;
    if (!policy.planned.empty()) {
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
      if (policy.shadow) continue;
      return refuse(evaluation, Outcome::identity_ambiguous, identity->ambiguity);
    }
    if (identity->state == State::invalid) {
      note_token(policy, identity->token_fault, evaluation);
      continue;
    }
    if (identity->state == State::absent) {
      if (limit.required && !is_exempt(planned))
        return refuse(evaluation, Outcome::identity_required);
      continue;
    }
    const AppliedPolicy applied{.policy = &policy,
                                .terms = &policy.terms_of(planned),
                                .identity = index,
                                .charge = limit.charge ? &*limit.charge : nullptr};
    const store::Claim claim = claim_of(limit, route, planned, *applied.terms, identity->key);
    if (is_claimed(claim, applied, earlier, evaluation)) continue;
    if (claims.size() == limits_per_route) return refuse(evaluation, Outcome::too_many_limits);
    if (!add_claim(claim, applied, route, evaluation)) return false;
  }
  return true;
}

/// A condition that cannot be decided refuses the request: a client could choose its result. A
/// shadow policy does not apply then. With an invalid token an identity counts as absent and the
/// plan is the default, so that limits bound failed verifications; the request is refused
/// afterwards.
Limiter::Applies Limiter::meets_conditions(const Limit& limit, const RouteEvidence& route,
                                           Evaluation& evaluation) {
  const auto resolve = [&](std::size_t index) -> const identity::Resolution& {
    return identities_.of(index, route.evidence);
  };
  const auto plan = [&]() -> const PlanReading& { return plan_of(route, evaluation); };
  const Policy& policy = options_.policies[limit.policy];
  for (const auto* const condition : {&limit.when, &limit.unless}) {
    if (!*condition) continue;
    const ConditionPart unmet = first_unmet(**condition, route.evidence, resolve, plan);
    if (unmet == ConditionPart::ambiguous)
      return undecided(limit, resolve(*(*condition)->identity).ambiguity, evaluation);
    if (unmet == ConditionPart::ambiguous_plan)
      return undecided(limit, plan().ambiguity, evaluation);
    bool holds = unmet == ConditionPart::none;
    if (unmet == ConditionPart::invalid)
      note_token(policy, resolve(*(*condition)->identity).token_fault, evaluation);
    if (unmet == ConditionPart::invalid_plan) {
      note_token(policy, *plan().token_fault, evaluation);
      holds = lists_plan(**condition, plan());
    }
    const bool must_hold = condition == &limit.when;
    if (holds != must_hold) return Applies::no;
  }
  return Applies::yes;
}

/// The same ambiguity may come from a condition or from the plan.
Limiter::Applies Limiter::undecided(const Limit& limit, const identity::Ambiguity& ambiguity,
                                    Evaluation& evaluation) const {
  if (options_.policies[limit.policy].shadow) return Applies::no;
  refuse(evaluation, Outcome::identity_ambiguous, ambiguity);
  return Applies::refused;
}

/// Reads the plan once for each route.
const PlanReading& Limiter::plan_of(const RouteEvidence& route, Evaluation& evaluation) {
  if (plan_) return *plan_;
  plan_ = read_plan(options_.plans, route.evidence, tokens_,
                    [&](std::size_t index) { return identities_.of(index, route.evidence); });
  if (plan_->is_unknown && unknown_plans_ != nullptr)
    unknown_plans_->note(plan_->unknown_name, plan_->source.value_or(0));
  if (const auto plan = plan_->found(); plan && evaluation.plan == nullptr)
    evaluation.plan = &options_.plans.names[*plan];
  return *plan_;
}

/// Finds the terms of the limit's policy under the plan: nullptr in `to` if it has none. With an
/// invalid token the limit applies with the numbers of the default plan, and the request is refused
/// afterwards.
Limiter::Applies Limiter::choose_terms(const Limit& limit, const RouteEvidence& route,
                                       Evaluation& evaluation, const PlannedTerms*& to) {
  const Policy& policy = options_.policies[limit.policy];
  const PlanReading& reading = plan_of(route, evaluation);
  if (reading.state == PlanReading::State::ambiguous)
    return undecided(limit, reading.ambiguity, evaluation);
  if (reading.token_fault) note_token(policy, *reading.token_fault, evaluation);
  if (const auto plan = reading.found()) to = policy.under(*plan);
  return Applies::yes;
}

/// Without a store the plan of an exempt client counts.
store::Claim Limiter::claim_of(const Limit& limit, const RouteEvidence& route,
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

/// A shadow policy with an ambiguous attribute, or one from an invalid token, does not apply.
bool Limiter::add_claim(const store::Claim& claim, const AppliedPolicy& applied,
                        const RouteEvidence& route, Evaluation& evaluation) {
  const Policy& policy = *applied.policy;
  std::span<const std::string_view> texts;
  if (!policy.attributes.empty()) {
    const auto attributes =
        attributes_.read(policy, route.evidence, tokens_, evaluation.attributes);
    if (attributes.ambiguity) {
      if (policy.shadow) return true;
      return refuse(evaluation, Outcome::identity_ambiguous, *attributes.ambiguity);
    }
    if (attributes.token_fault) {
      note_token(policy, *attributes.token_fault, evaluation);
      return true;
    }
    texts = attributes.texts;
  }
  evaluation.has_holds |= claim.holds;
  evaluation.claims.push_back(claim);
  evaluation.claims.back().attributes = texts;
  evaluation.policies.push_back(applied);
  return true;
}

bool Limiter::refuse(Evaluation& evaluation, Outcome outcome,
                     const identity::Ambiguity& ambiguity) const {
  evaluation.verdict = {
      .outcome = outcome, .decider = decider_, .ambiguity = ambiguity, .plan = evaluation.plan};
  return false;
}

const Verdict& Limiter::conclude(Evaluation& evaluation, const store::Result& result) {
  if (result.error != store::Error::none) {
    if (evaluation.held_back) restore_held_back(evaluation, result);
    evaluation.waits_for.reset();
    fail(evaluation, result);
    return evaluation.verdict;
  }
  if (evaluation.has_holds) {
    if (evaluation.waits_for) evaluation.limits.clear();  // of the last denial
    if (evaluation.held_back) restore_held_back(evaluation, result);
    if (result.admitted) note_holds(evaluation, result);
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
  const bool has_limit = !std::ranges::all_of(evaluation.claims, &store::Claim::is_exempt);
  if (!has_limit && evaluation.limits.empty()) evaluation.verdict.outcome = Outcome::unlimited;
  evaluation.verdict.plan = evaluation.plan;
  refuse_token(evaluation);
  if (evaluation.may_wait && note_wait(evaluation, result)) return evaluation.verdict;
  count_outcomes(evaluation.verdict);
  return evaluation.verdict;
}

std::optional<store::Result> Limiter::ask_again(Evaluation& evaluation, bool look,
                                                store::Completion& completion, Instant now) {
  evaluation.acquisition = {
      .claims = evaluation.claims, .decisions = evaluation.decisions, .arrived_at = now};
  return look ? store_.peek(evaluation.acquisition, completion, now)
              : store_.acquire(evaluation.acquisition, completion, now);
}

const Verdict& Limiter::give_up(Evaluation& evaluation, bool has_waited) {
  evaluation.waits_for.reset();
  if (has_waited) keep_denials(evaluation);
  count_outcomes(evaluation.verdict);
  return evaluation.verdict;
}

/// Adds the settlements of claims that hold units. Until the request ends they charge nothing.
void Limiter::note_holds(Evaluation& evaluation, const store::Result& result) {
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    if (!store::contains(result.decided, i) || evaluation.decisions[i].held == 0) continue;
    const store::Claim& claim = evaluation.claims[i];
    const Policy& policy = *evaluation.policies[i].policy;
    const bool alone = store::contains(result.alone, i);
    evaluation.held.settlements.push_back(
        {.policy = alone ? claim.local_policy : claim.policy,
         .key = {.identity = claim.identity, .policy_id = claim.policy_id},
         .held = evaluation.decisions[i].held,
         .alone = alone});
    evaluation.held.limits.push_back({.policy = &policy, .charge = evaluation.policies[i].charge});
    counters_of(policy).held.add(evaluation.decisions[i].held);
  }
}

void Limiter::count_settled(const HeldUnits& held) {
  for (std::size_t i = 0; i < held.limits.size(); ++i) {
    const HeldLimit& limit = held.limits[i];
    PolicyCounters& counters = counters_of(*limit.policy);
    counters.held.add(-held.settlements[i].held);
    if (limit.by) counters.settled[static_cast<std::size_t>(*limit.by)].add();
  }
}

/// Returns false for a claim that does not limit the request: an override or the plan exempts it.
bool Limiter::note_override(const Evaluation& evaluation, std::size_t index) {
  const Policy& policy = *evaluation.policies[index].policy;
  const store::Claim& claim = evaluation.claims[index];
  switch (evaluation.decisions[index].override_effect) {
    case rules::OverrideEffect::unlimited:
      counters_of(policy).allowed.add();
      return false;
    case rules::OverrideEffect::malformed:
      report(on_malformed_override_, policy, claim.identity);
      return !claim.is_exempt;
    case rules::OverrideEffect::none:
      return !claim.is_exempt;
    default:
      return true;
  }
}

/// The store did not decide, and a policy denies then: the verdict names the first such policy.
void Limiter::fail(Evaluation& evaluation, const store::Result& result) {
  Verdict& verdict = evaluation.verdict;
  verdict = {.outcome = Outcome::failed, .decider = result.decider, .plan = evaluation.plan};
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    const store::Claim& claim = evaluation.claims[i];
    if (claim.on_failure != OnFailure::deny || claim.shadow) continue;
    const Policy* const policy = evaluation.policies[i].policy;
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
