// Combines all decisions about a request into one verdict. Pure.
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
  denied,              ///< at least one enforced policy denied it
  forbidden,           ///< an override denies the identity: 403
  identity_required,   ///< a required identity is absent: 401
  identity_ambiguous,  ///< services may read another identity than Weir does: 400
  token_invalid,       ///< a limit needs a claim of an invalid token: 401
  token_unverifiable,  ///< as token_invalid, but no keys have been read yet: 503
  too_many_limits,     ///< more limits than one request can be charged to, over all readings of its
                       ///< path: 400
  failed,              ///< the store did not decide, and a policy denies then: 503
};

/// True for a refusal that a route causes because its limits need an identity.
constexpr bool is_for_lack_of_identity(Outcome outcome) {
  return outcome == Outcome::identity_required || outcome == Outcome::token_invalid ||
         outcome == Outcome::token_unverifiable;
}

/// True for a refusal before a store was asked.
constexpr bool is_before_store(Outcome outcome) {
  return outcome == Outcome::identity_required || outcome == Outcome::identity_ambiguous ||
         outcome == Outcome::too_many_limits;
}

using store::Decider;
using store::decider_count;

/// One limit that applied to the request.
struct LimitVerdict {
  const Policy* policy = nullptr;
  const Terms* terms = nullptr;  ///< in force for the request
  rules::Decision decision{};
  std::int64_t cost = 0;
  Hash128 identity;
  std::size_t identity_index = 0;  ///< into Options::identities
};

struct Verdict {
  Outcome outcome = Outcome::unlimited;
  Decider decider = Decider::memory;
  bool shadow_denied = false;  ///< a shadow policy would have denied it
  Duration delay{0};           ///< leaky_bucket: wait this long before forwarding
  /// Denied: the longest of the violated policies; empty: never succeeds.
  std::optional<Duration> retry_after{};
  /// Forbidden: the first policy whose override denies.
  /// Denied: the violated policy with the latest retry. Failed: the first that denies then.
  /// Else the one closest to exhaustion.
  const Policy* deciding = nullptr;
  /// Refused: the index of the route that refuses, in the span passed to decide().
  std::optional<std::size_t> route{};
  /// Outcome::identity_ambiguous: the ambiguity.
  identity::Ambiguity ambiguity{};
  /// Outcome::token_invalid and token_unverifiable: the provider and the reason.
  identity::TokenFault token_fault{};
  const std::string* plan = nullptr;  ///< the plan in force; nullptr: none was looked for, or found
  /// The limits that applied, in the order of the route; the evaluation owns them.
  std::span<const LimitVerdict> limits{};
};

/// True for a limit that denied the request.
inline bool violated(const LimitVerdict& limit) {
  return !limit.decision.allowed && !limit.policy->shadow;
}

/// True for a denial by an override.
inline bool forbidden(const LimitVerdict& limit) {
  return limit.decision.override_effect == rules::OverrideEffect::denied;
}

/// Makes the verdict from the decisions; it has a view of `limits`.
Verdict verdict_of(std::span<const LimitVerdict> limits, bool admitted, Decider decider);

}  // namespace weir::limiter
