#include "limiter/limiter.hpp"

#include <algorithm>
#include <utility>

#include "limiter/waiting.hpp"

namespace weir::limiter {
namespace {

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
      claims_(options, policies_, std::move(token_counters), unknown_plans),
      queue_(queue) {}

bool Limiter::decide(Evaluation& evaluation, std::span<const RouteEvidence> routes,
                     store::Completion& completion, Instant now, Trace* trace) {
  evaluation.clear();
  if (!claims_.make(routes, evaluation, now, trace)) {
    evaluation.verdict.decider = decider_;
    return true;
  }
  return acquire(evaluation, completion, now);
}

bool Limiter::decide(Evaluation& evaluation, std::span<const StatedClaim> claims,
                     store::Completion& completion, Instant now) {
  evaluation.clear();
  evaluation.is_counted = false;
  for (const StatedClaim& claim : claims)
    claims_.add(claim, evaluation);
  return acquire(evaluation, completion, now);
}

/// Decides the claims of an evaluation.
bool Limiter::acquire(Evaluation& evaluation, store::Completion& completion, Instant now) {
  const std::size_t count = evaluation.claims.size();
  if (count == 0) {
    evaluation.verdict = {.decider = decider_, .plan = evaluation.plan};
    refuse_token(evaluation);
    return true;
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
  if (!result) return false;
  conclude(evaluation, *result);
  return true;
}

const Verdict& Limiter::conclude(Evaluation& evaluation, const store::Result& result) {
  evaluation.alone = result.alone;
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
  if (evaluation.is_counted) count_outcomes(evaluation.verdict);
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
         .alone = alone,
         .attributes = store::copied_attributes(claim)});
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
/// The policy decides in place of an override that is malformed.
bool Limiter::note_override(Evaluation& evaluation, std::size_t index) {
  const Policy& policy = *evaluation.policies[index].policy;
  const store::Claim& claim = evaluation.claims[index];
  switch (evaluation.decisions[index].override_effect) {
    case rules::OverrideEffect::unlimited:
      evaluation.is_overridden = true;
      counters_of(policy).allowed.add();
      return false;
    case rules::OverrideEffect::malformed:
      report(on_malformed_override_, policy, claim.identity);
      return !claim.is_exempt;
    case rules::OverrideEffect::none:
      return !claim.is_exempt;
    default:
      evaluation.is_overridden = true;
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
