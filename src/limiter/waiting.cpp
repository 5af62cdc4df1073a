#include "limiter/waiting.hpp"

#include <algorithm>
#include <utility>

#include "rules/holds.hpp"
#include "rules/rules.hpp"

namespace weir::limiter {
namespace {

/// Marks a limit as delayed, for the counters; the delay of the verdict does not contain it.
constexpr Duration least_delay{1};
constexpr Duration least_pause_remote{10'000};
constexpr Duration pause_spread_remote{10'000};
constexpr Duration poll_memory{100'000};

/// True if a request can wait for this claim.
bool claim_has_queue(const Evaluation& evaluation, std::size_t claim) {
  return evaluation.policies[claim].policy->queue > 0 && !evaluation.claims[claim].shadow;
}

/// True if a denied claim may pass once other requests end.
bool waits_for_release(const rules::Decision& decision) {
  return decision.by_holds && decision.retry_after &&
         decision.override_effect != rules::OverrideEffect::denied;
}

/// The claim in whose queue a denied request waits; empty: it does not wait.
std::optional<std::size_t> awaited_claim(const Evaluation& evaluation,
                                         const store::Result& result) {
  if (result.admitted || result.error != store::Error::none || evaluation.token_refusal) return {};
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    if (!store::contains(result.decided, i) || evaluation.claims[i].shadow ||
        evaluation.decisions[i].allowed)
      continue;
    if (!waits_for_release(evaluation.decisions[i])) return {};
    if (!first && claim_has_queue(evaluation, i)) first = i;
  }
  return first;
}

}  // namespace

bool has_queue(const Evaluation& evaluation) {
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    if (claim_has_queue(evaluation, i)) return true;
  }
  return false;
}

void hold_back_if_others_wait(Evaluation& evaluation, const SlotQueue& queue) {
  if (queue.is_empty()) return;
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    store::Claim& claim = evaluation.claims[i];
    if (claim.demand.cost <= 0 || !claim_has_queue(evaluation, i) ||
        !queue.has_waiting({.identity = claim.identity, .policy_id = claim.policy_id}))
      continue;
    evaluation.held_back = {.claim = i, .cost = claim.demand.cost};
    claim.demand.cost = rules::exact_limit;
    return;
  }
}

void restore_held_back(Evaluation& evaluation, const store::Result& result) {
  const auto [claim, cost] = *std::exchange(evaluation.held_back, std::nullopt);
  evaluation.claims[claim].demand.cost = cost;
  if (result.error != store::Error::none || !store::contains(result.decided, claim)) return;
  rules::Decision& decision = evaluation.decisions[claim];
  const bool is_forbidden = decision.override_effect == rules::OverrideEffect::denied;
  if (decision.allowed || is_forbidden || cost > decision.limit) return;
  decision.remaining = 0;
  decision.by_holds = true;
  for (Duration* const time : {&decision.more_after, &decision.reset_after})
    *time = std::max(*time, rules::hold_retry_after);
  decision.retry_after = rules::hold_retry_after;
}

bool note_wait(Evaluation& evaluation, const store::Result& result) {
  const auto waited_for = evaluation.waits_for;
  evaluation.waits_for = awaited_claim(evaluation, result);
  if (evaluation.waits_for) return true;
  if (!result.admitted || !waited_for) return false;
  for (LimitVerdict& limit : evaluation.limits) {
    if (limit.policy == evaluation.policies[*waited_for].policy) limit.decision.delay = least_delay;
  }
  return false;
}

void keep_denials(Evaluation& evaluation) {
  std::erase_if(evaluation.limits, [](const LimitVerdict& limit) { return !violated(limit); });
  evaluation.verdict.limits = evaluation.limits;
}

bool counts_rejected(const Evaluation& evaluation) {
  return std::ranges::any_of(
      evaluation.claims, [](const store::Claim& claim) { return claim.policy->count_rejected; });
}

bool has_room(const Evaluation& evaluation, const store::Result& look) {
  if (look.error != store::Error::none) return true;
  for (std::size_t i = 0; i < evaluation.claims.size(); ++i) {
    const rules::Decision& decision = evaluation.decisions[i];
    if (!store::contains(look.decided, i) || !claim_has_queue(evaluation, i) || !decision.by_holds)
      continue;
    if (decision.remaining < evaluation.claims[i].demand.cost) return false;
  }
  return true;
}

Pause pause_after(store::Decider decider, std::uint64_t random) {
  if (decider == store::Decider::memory) return {.poll = poll_memory};
  const auto jitter = Duration{
      static_cast<std::int64_t>(random % static_cast<std::uint64_t>(to_us(pause_spread_remote)))};
  return {.least = least_pause_remote, .poll = least_pause_remote + jitter};
}

void report_released(SlotQueue& queue, const HeldUnits& held) {
  if (queue.is_empty()) return;
  for (const store::Settlement& settlement : held.settlements)
    queue.released(settlement.key);
}

}  // namespace weir::limiter
