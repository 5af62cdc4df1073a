#include "limiter/verdict.hpp"

#include <algorithm>

namespace weir::limiter {
namespace {

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

Verdict verdict_of(std::span<const LimitVerdict> limits, bool admitted, Decider decider) {
  Verdict verdict{.decider = decider, .limits = limits};
  admitted ? explain_admission(verdict) : explain_denial(verdict);
  verdict.shadow_denied = std::ranges::any_of(verdict.limits, [](const LimitVerdict& limit) {
    return limit.policy->shadow && !limit.decision.allowed;
  });
  return verdict;
}

}  // namespace weir::limiter
