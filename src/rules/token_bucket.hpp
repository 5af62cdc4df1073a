// Token bucket: holds `capacity` tokens, refills at the rate, computed when it is looked at.
//
// The state keeps the tokens that are missing, not those that are left, so that a changed burst
// keeps the use counted. What of a token has grown since the last whole one is carried exactly. The
// four questions as in rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// A fresh state is all zero: a full bucket.
struct TokenBucketState {
  Instant at{};           ///< when `used` and `remainder` were true
  std::int64_t used = 0;  ///< tokens missing
  std::int64_t remainder =
      0;  ///< of the next token, in per-ths (per in microseconds): 0 <= remainder < per
  friend bool operator==(const TokenBucketState&, const TokenBucketState&) = default;
};

Admission admit(const Policy& policy, const TokenBucketState& stored, Instant now, Demand demand);
void charge(const Policy& policy, TokenBucketState& stored, Instant now, std::int64_t units);
Level level(const Policy& policy, const TokenBucketState& stored, Instant now);
Instant whole_at(const Policy& policy, const TokenBucketState& stored);

}  // namespace weir::rules
