// The part of a verdict that the response, the log line and the counters of one request use. Owned
// by the exchange and reused; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "http/field_section.hpp"
#include "http/ratelimit_fields.hpp"
#include "identity/identity.hpp"
#include "limiter/limiter.hpp"
#include "log/access_log.hpp"

namespace weir::proxy {

struct DecisionRecord {
  static constexpr std::size_t most_queue_steps = 64;

  limiter::Outcome outcome = limiter::Outcome::unlimited;
  identity::Ambiguity ambiguity;            ///< of an ambiguous identity
  std::optional<jwt::Rejection> rejection;  ///< of an invalid token
  limiter::Decider decider = limiter::Decider::memory;
  bool shadow_denied = false;
  bool is_report = false;                   ///< no decision: see reported()
  const limiter::Policy* policy = nullptr;  ///< the policy that decided
  const std::string* plan = nullptr;        ///< in force; nullptr: none
  std::optional<Hash128> identity;          ///< of the limit that decided
  std::size_t identity_index = 0;           ///< of it, into limiter::Options::identities
  std::int64_t cost = 0;  ///< of it; charged, or while the request is in progress held
  std::optional<std::int64_t> reserved;  ///< units of it that were held; empty: it does not hold
  std::string_view settled_by;           ///< what determined its cost; empty: nothing had to
  std::int64_t remaining = 0;
  Duration delay{0};
  Duration queued{0};  ///< waited for a slot, before the decision
  /// When a request that has waited for a slot asked for it; the last one may be when it gave up
  /// instead. At most most_queue_steps: the first and the latest.
  std::vector<Instant> queue_steps;
  Duration took{0};
  std::optional<Duration> retry_after;
  http::FieldSection limit_fields;         ///< the RateLimit fields of the response
  std::vector<std::string_view> violated;  ///< names of the visible policies that denied
  std::vector<log::DeniedPolicy> denied;   ///< all that denied, or would have
  std::vector<log::OtherLimit> others;     ///< limits besides the one that decided

  /// Prepares for the next request; keeps the memory of its strings.
  void clear();
  void note_queue_step(Instant at);
  /// Copies what is needed, because the verdict may not exist any more when the response is sent.
  /// `identities`: limiter::Options::identities.
  void take(const limiter::Verdict& verdict, const http::ResponseFieldOptions& fields,
            std::span<const identity::Definition> identities);
  /// Copies how the holds of the request have ended, or what they hold.
  void settled(const limiter::HeldUnits& held);
  /// Copies the end of a hold of another request, which another proxy reports. If there are several
  /// limits, the record shows the first one that charges. `policies`: of the running configuration.
  void reported(const limiter::HeldUnits& held, std::span<const limiter::Policy> policies);
};

/// The decision as the access log names it.
log::AccessDecision decision_of(const DecisionRecord& decision);

}  // namespace weir::proxy
