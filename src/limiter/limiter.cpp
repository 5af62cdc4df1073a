#include "limiter/limiter.hpp"

namespace weir::limiter {

static_assert(config::limits_per_route <= store::claims_per_request);

Limiter::Limiter(const config::Config& config, store::MemoryStore& memory)
    : config_(config),
      memory_(memory),
      counters_(config.policies.size()),
      identities_(config),
      attributes_(config) {}

Verdict Limiter::decide(const config::Route& route, const identity::Evidence& evidence,
                        Instant now) {
  const std::optional<std::size_t> count = make_claims(route, evidence);
  const Decider decider = shared_ ? Decider::redis : Decider::memory;
  if (!count) return {.outcome = Outcome::identity_required, .decider = decider};
  if (*count == 0) return {.decider = decider};
  if (shared_) return decide_shared(*count, now, now);
  return acquire(*count, now, decider);
}

/// How many claims the route's limits make of the request; nothing if a required identity is
/// absent.
std::optional<std::size_t> Limiter::make_claims(const config::Route& route,
                                                const identity::Evidence& evidence) {
  identities_.forget();
  attributes_.clear();
  std::size_t count = 0;
  for (const config::Limit& limit : route.limits) {
    auto identity = identities_.of(limit.identity, evidence);
    if (!identity && limit.otherwise) identity = identities_.of(*limit.otherwise, evidence);
    if (!identity && limit.required) return std::nullopt;
    if (!identity) continue;

    const config::Policy& policy = config_.policies[limit.policy];
    claims_[count] = {.policy = &policy.rule,
                      .identity = *identity,
                      .policy_id = static_cast<std::uint32_t>(limit.policy),
                      .demand = {.cost = limit.cost, .overdraft = limit.overdraft},
                      .shadow = policy.shadow,
                      .attributes = attributes_.of(limit.policy, evidence)};
    limits_[count] = {.policy = &policy, .cost = limit.cost, .identity = *identity};
    ++count;
  }
  return count;
}

/// The embedded store decides the first `count` claims.
Verdict Limiter::acquire(std::size_t count, Instant now, Decider decider) {
  const bool admitted = memory_.acquire(std::span(claims_).first(count), now, decisions_);
  for (std::size_t i = 0; i < count; ++i)
    limits_[i].decision = decisions_[i];
  const Verdict verdict = verdict_of(std::span(limits_).first(count), admitted, decider);
  count_outcomes(verdict);
  return verdict;
}

std::size_t Limiter::index_of(const config::Policy& policy) const {
  return static_cast<std::size_t>(&policy - config_.policies.data());
}

void Limiter::count_outcomes(const Verdict& verdict) {
  for (const LimitVerdict& limit : verdict.limits) {
    PolicyCounters& counters = counters_[index_of(*limit.policy)];
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
