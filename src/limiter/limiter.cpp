#include "limiter/limiter.hpp"

#include <algorithm>

namespace weir::limiter {
namespace {

static_assert(config::limits_per_route <= store::claims_per_request);

__extension__ using Wide = __int128;

/// The smaller share of its limit left; of equal shares the later whole.
bool closer_to_exhaustion(const LimitVerdict& a, const LimitVerdict& b) {
  const Wide share_of_a = Wide{a.decision.remaining} * b.decision.limit;
  const Wide share_of_b = Wide{b.decision.remaining} * a.decision.limit;
  if (share_of_a != share_of_b) return share_of_a < share_of_b;
  return a.decision.reset_after > b.decision.reset_after;
}

/// Never is the latest.
bool later(const std::optional<Duration>& a, const std::optional<Duration>& b) {
  return b && (!a || *a > *b);
}

bool violated(const LimitVerdict& limit) {
  return !limit.decision.allowed && !limit.policy->shadow;
}

void explain_admission(Verdict& verdict) {
  verdict.outcome = Outcome::allowed;
  const LimitVerdict* closest = nullptr;
  for (const LimitVerdict& limit : verdict.limits) {
    if (limit.policy->shadow) continue;
    verdict.delay = std::max(verdict.delay, limit.decision.delay);
    if (!closest || closer_to_exhaustion(limit, *closest)) closest = &limit;
  }
  if (closest) verdict.deciding = closest->policy;
}

void explain_denial(Verdict& verdict) {
  verdict.outcome = Outcome::denied;
  for (const LimitVerdict& limit : verdict.limits) {
    if (!violated(limit)) continue;
    const auto& retry_after = limit.decision.retry_after;
    if (!verdict.deciding || later(retry_after, verdict.retry_after)) {
      verdict.deciding = limit.policy;
      verdict.retry_after = retry_after;
    }
  }
  if (!verdict.retry_after) return;
  for (const LimitVerdict& limit : verdict.limits) {
    if (limit.policy->shadow || !limit.decision.allowed) continue;
    // An allowed claim can still have to wait: where rejected requests count, this one did.
    verdict.retry_after =
        std::max(*verdict.retry_after, limit.decision.retry_after.value_or(Duration{0}));
  }
}

}  // namespace

Limiter::Limiter(const config::Config& config, store::MemoryStore& store)
    : config_(config),
      store_(store),
      counters_(config.policies.size()),
      identities_(config),
      attributes_(config) {}

Verdict Limiter::decide(const config::Route& route, const identity::Evidence& evidence,
                        Instant now) {
  const std::optional<std::size_t> count = make_claims(route, evidence);
  if (!count) return {.outcome = Outcome::identity_required};
  if (*count == 0) return {};

  const bool admitted = store_.acquire(std::span(claims_).first(*count), now, decisions_);
  for (std::size_t i = 0; i < *count; ++i)
    limits_[i].decision = decisions_[i];

  Verdict verdict{.limits = std::span(limits_).first(*count)};
  admitted ? explain_admission(verdict) : explain_denial(verdict);
  verdict.shadow_denied = std::ranges::any_of(verdict.limits, [](const LimitVerdict& limit) {
    return limit.policy->shadow && !limit.decision.allowed;
  });
  count_outcomes(verdict);
  return verdict;
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

void Limiter::count_outcomes(const Verdict& verdict) {
  for (std::size_t i = 0; i < verdict.limits.size(); ++i) {
    const LimitVerdict& limit = verdict.limits[i];
    PolicyCounters& counters = counters_[claims_[i].policy_id];
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
