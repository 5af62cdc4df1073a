// The part of a verdict that the response, the log line and the counters of one request use. Owned
// by the exchange and reused; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "http/ratelimit_fields.hpp"
#include "identity/identity.hpp"
#include "limiter/limiter.hpp"

namespace weir::proxy {

struct DecisionRecord {
  limiter::Outcome outcome = limiter::Outcome::unlimited;
  identity::Ambiguity ambiguity;            ///< of an ambiguous identity
  std::optional<jwt::Rejection> rejection;  ///< of an invalid token
  limiter::Decider decider = limiter::Decider::memory;
  bool shadow_denied = false;
  const limiter::Policy* policy = nullptr;  ///< the policy that decided
  const std::string* plan = nullptr;        ///< in force; nullptr: none
  std::optional<Hash128> identity;          ///< of the limit that decided
  std::size_t identity_index = 0;           ///< of it, into Settings::identities
  std::int64_t cost = 0;
  std::int64_t remaining = 0;
  Duration delay{0};
  Duration took{0};
  std::optional<Duration> retry_after;
  std::string limit_fields;  ///< the RateLimit lines of the response, already formatted
  std::vector<std::string_view> violated;  ///< names of the visible policies that denied

  /// Prepares for the next request; keeps the memory of its strings.
  void clear();
  /// Copies what is needed, because the verdict may not exist any more when the response is sent.
  void take(const limiter::Verdict& verdict, const http::ResponseFieldOptions& fields);
};

}  // namespace weir::proxy
