// Limits of a route -> claims -> store -> one verdict about the request.
//
// A Limiter belongs to one worker (it keeps scratch space and counters); the store behind it is
// shared. No allocation a request.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/counters.hpp"
#include "config/config.hpp"
#include "identity/identity.hpp"
#include "limiter/attribute_texts.hpp"
#include "limiter/resolved_identities.hpp"
#include "rules/decision.hpp"
#include "store/memory_store.hpp"

namespace weir::limiter {

enum class Outcome : std::uint8_t {
  unlimited,  ///< no limit applied
  allowed,
  denied,             ///< at least one enforced policy said no
  identity_required,  ///< a required identity is absent: 401
};

/// One limit that applied to the request.
struct LimitVerdict {
  const config::Policy* policy = nullptr;
  rules::Decision decision{};
  std::int64_t cost = 0;
  Hash128 identity;
};

struct Verdict {
  Outcome outcome = Outcome::unlimited;
  bool shadow_denied = false;  ///< a shadow policy would have denied it
  Duration delay{0};           ///< leaky_bucket: wait this long before forwarding
  /// Denied: the longest of the violated policies; empty: never succeeds.
  std::optional<Duration> retry_after{};
  /// Denied: the violated policy with the latest retry; else the one closest to exhaustion.
  const config::Policy* deciding = nullptr;
  /// Those that applied, in the route's order; valid until the next decide().
  std::span<const LimitVerdict> limits{};
};

/// Decisions by policy and outcome, for the metrics.
struct PolicyCounters {
  Counter allowed, denied, shadow_denied, delayed;
};

class Limiter {
 public:
  Limiter(const config::Config& config, store::MemoryStore& store);

  Verdict decide(const config::Route& route, const identity::Evidence& evidence, Instant now);

  /// One a policy, in the configuration's order.
  std::span<const PolicyCounters> counters() const { return counters_; }

 private:
  std::optional<std::size_t> make_claims(const config::Route& route,
                                         const identity::Evidence& evidence);
  void count_outcomes(const Verdict& verdict);

  const config::Config& config_;
  store::MemoryStore& store_;
  std::vector<PolicyCounters> counters_;
  ResolvedIdentities identities_;
  AttributeTexts attributes_;
  std::array<store::Claim, config::limits_per_route> claims_;
  std::array<rules::Decision, config::limits_per_route> decisions_;
  std::array<LimitVerdict, config::limits_per_route> limits_;
};

}  // namespace weir::limiter
