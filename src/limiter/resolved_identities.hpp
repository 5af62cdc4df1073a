// The identities of one request, each resolved at most once even if several limits use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/options.hpp"

namespace weir::limiter {

class ResolvedIdentities {
 public:
  ResolvedIdentities(const Options& options, identity::TokenReadings& tokens)
      : options_(options), tokens_(tokens) {}

  void forget() { known_ = 0; }

  const identity::Resolution& of(std::size_t index, const identity::Evidence& evidence) {
    const std::uint64_t bit = std::uint64_t{1} << index;
    if ((known_ & bit) == 0) {
      known_ |= bit;
      values_[index] = identity::resolve(options_.identities[index].source, evidence,
                                         options_.identity_key, tokens_);
    }
    return values_[index];
  }

 private:
  static_assert(identity_limit <= 64, "one bit an identity");

  const Options& options_;
  identity::TokenReadings& tokens_;
  std::uint64_t known_ = 0;
  std::array<identity::Resolution, identity_limit> values_;
};

}  // namespace weir::limiter
