#include "limiter/verdict.hpp"

#include <algorithm>

#include "http/ratelimit_fields.hpp"

namespace weir::limiter {
namespace {

http::Standing standing_of(const rules::Decision& decision) {
  return {decision.limit, decision.remaining, decision.reset_after};
}

bool closer_to_exhaustion(const LimitVerdict& a, const LimitVerdict& b) {
  return http::is_closer_to_exhaustion(standing_of(a.decision), standing_of(b.decision));
}

/// "Never" is later than any instant.
bool later(const std::optional<Duration>& a, const std::optional<Duration>& b) {
  return b && (!a || *a > *b);
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

/// Returns false if no override denies.
bool explain_prohibition(Verdict& verdict) {
  const auto found = std::ranges::find_if(verdict.limits, [](const LimitVerdict& limit) {
    return violated(limit) && forbidden(limit);
  });
  if (found == verdict.limits.end()) return false;
  verdict.outcome = Outcome::forbidden;
  verdict.deciding = found->policy;
  return true;
}

void explain_denial(Verdict& verdict) {
  if (explain_prohibition(verdict)) return;
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
    // An allowed claim may have a retry time too: with count_rejected the denied request counted.
    verdict.retry_after =
        std::max(*verdict.retry_after, limit.decision.retry_after.value_or(Duration{0}));
  }
}

}  // namespace

Verdict verdict_of(std::span<const LimitVerdict> limits, bool admitted, Decider decider) {
  Verdict verdict{.decider = decider, .limits = limits};
  admitted ? explain_admission(verdict) : explain_denial(verdict);
  verdict.shadow_denied = std::ranges::any_of(verdict.limits, [](const LimitVerdict& limit) {
    return limit.policy->shadow && !limit.decision.allowed;
  });
  return verdict;
}

}  // namespace weir::limiter
