// What all decisions about a request come to. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/policy.hpp"
#include "rules/decision.hpp"
#include "store/store.hpp"

namespace weir::limiter {

enum class Outcome : std::uint8_t {
  unlimited,  ///< no limit applied
  allowed,
  denied,              ///< at least one enforced policy said no
  identity_required,   ///< a required identity is absent: 401
  identity_ambiguous,  ///< services may read another identity than Weir does: 400
  too_many_limits,  ///< more than one request can be charged to, over all readings of its path: 400
  failed,           ///< the store did not decide, and a policy denies then: 503
};

using store::Decider;
using store::decider_count;

/// One limit that applied to the request.
struct LimitVerdict {
  const Policy* policy = nullptr;
  rules::Decision decision{};
  std::int64_t cost = 0;
  Hash128 identity;
};

struct Verdict {
  Outcome outcome = Outcome::unlimited;
  Decider decider = Decider::memory;
  bool shadow_denied = false;  ///< a shadow policy would have denied it
  Duration delay{0};           ///< leaky_bucket: wait this long before forwarding
  /// Denied: the longest of the violated policies; empty: never succeeds.
  std::optional<Duration> retry_after{};
  /// Denied: the violated policy with the latest retry. Failed: the first that denies then. Else
  /// the one closest to exhaustion.
  const Policy* deciding = nullptr;
  /// Refused: the place of the route that refuses in the span that was decided about.
  std::optional<std::size_t> route{};
  /// Outcome::identity_ambiguous: what is ambiguous.
  identity::Ambiguity ambiguity{};
  /// Those that applied, in the route's order; they belong to the evaluation.
  std::span<const LimitVerdict> limits{};
};

/// Said of a policy that denied the request.
inline bool violated(const LimitVerdict& limit) {
  return !limit.decision.allowed && !limit.policy->shadow;
}

/// From the decisions to the verdict; it views `limits`.
Verdict verdict_of(std::span<const LimitVerdict> limits, bool admitted, Decider decider);

}  // namespace weir::limiter
