#include "limiter/limiter.hpp"

#include <algorithm>

namespace weir::limiter {

static_assert(limits_per_route <= store::claims_per_request);

Limiter::Limiter(const Settings& config, store::MemoryStore& memory)
    : config_(config),
      memory_(memory),
      counters_(config.policies.size()),
      identities_(config),
      attributes_(config) {}

Verdict Limiter::decide(std::span<const RouteEvidence> routes, Instant now) {
  const Claims claims = make_claims(routes);
  const Decider decider = shared_ ? Decider::redis : Decider::memory;
  if (claims.refusing)
    return {.outcome = claims.refusal,
            .decider = decider,
            .route = claims.refusing,
            .ambiguity = claims.ambiguity};
  if (claims.count == 0) return {.decider = decider};
  if (shared_) return decide_shared(claims.count, now, now);
  return acquire(claims.count, now, decider);
}

Limiter::Claims Limiter::make_claims(std::span<const RouteEvidence> routes) {
  attributes_.clear();
  Claims claims;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    identities_.forget();
    claims.refusal = add_claims(routes[i], claims);
    if (claims.refusal == Outcome::unlimited) continue;
    claims.refusing = i;
    break;
  }
  return claims;
}

/// Appends the claims of one route; else returns why the request is refused.
Outcome Limiter::add_claims(const RouteEvidence& route, Claims& claims) {
  using State = identity::Resolution::State;
  const std::size_t earlier = claims.count;
  for (const Limit& limit : route.limits) {
    const identity::Resolution* identity = &identities_.of(limit.identity, route.evidence);
    if (identity->state == State::absent && limit.otherwise)
      identity = &identities_.of(*limit.otherwise, route.evidence);
    const Policy& policy = config_.policies[limit.policy];
    if (identity->state == State::ambiguous) {
      if (policy.shadow) continue;
      claims.ambiguity = identity->ambiguity;
      return Outcome::identity_ambiguous;
    }
    if (identity->state == State::absent && limit.required) return Outcome::identity_required;
    if (identity->state == State::absent || is_claimed(limit, identity->key, earlier)) continue;
    if (claims.count == claims_.size()) return Outcome::too_many_limits;

    const auto attributes = attributes_.of(limit.policy, route.evidence);
    if (attributes_.ambiguity()) {
      if (policy.shadow) continue;
      claims.ambiguity = *attributes_.ambiguity();
      return Outcome::identity_ambiguous;
    }
    claims_[claims.count] = {.policy = &policy.rule,
                             .identity = identity->key,
                             .policy_id = static_cast<std::uint32_t>(limit.policy),
                             .demand = {.cost = limit.cost, .overdraft = limit.overdraft},
                             .shadow = policy.shadow,
                             .attributes = attributes};
    limits_[claims.count] = {.policy = &policy, .cost = limit.cost, .identity = identity->key};
    ++claims.count;
  }
  return Outcome::unlimited;
}

/// True if one of the first `count` claims, of another route, is for the same policy and key; it
/// becomes the stricter of the two.
bool Limiter::is_claimed(const Limit& limit, const Hash128& identity, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (claims_[i].policy_id != limit.policy || claims_[i].identity != identity) continue;
    auto& demand = claims_[i].demand;
    demand.cost = std::max(demand.cost, limit.cost);
    demand.overdraft = demand.overdraft && limit.overdraft;
    limits_[i].cost = demand.cost;
    return true;
  }
  return false;
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

std::size_t Limiter::index_of(const Policy& policy) const {
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
