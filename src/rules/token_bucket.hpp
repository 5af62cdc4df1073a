// Token bucket: holds `capacity` tokens and refills at the rate; computed when it is read.
//
// The state keeps the tokens that are missing, not those that are left, so that the use counted
// survives a change of the burst. The fraction of the next token is carried exactly. Implements the
// functions of rules.hpp.
#pragma once

#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::rules {

/// A fresh state is all zero: a full bucket.
struct TokenBucketState {
  Instant at{};           ///< the instant of `used` and `remainder`
  std::int64_t used = 0;  ///< tokens missing
  std::int64_t remainder =
      0;  ///< of the next token, in per-ths (per in microseconds): 0 <= remainder < per
  friend bool operator==(const TokenBucketState&, const TokenBucketState&) = default;
};

Admission admit(const Policy& policy, const TokenBucketState& stored, Instant now, Demand demand);
void charge(const Policy& policy, TokenBucketState& stored, Instant now, std::int64_t units);
void refund(const Policy& policy, TokenBucketState& stored, Instant now, std::int64_t units);
Level level(const Policy& policy, const TokenBucketState& stored, Instant now);
Instant whole_at(const Policy& policy, const TokenBucketState& stored);

}  // namespace weir::rules
