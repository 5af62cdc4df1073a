// A claim is one question to a store: this policy, this key, this cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/siphash.hpp"
#include "rules/decision.hpp"
#include "rules/policy.hpp"

namespace weir::store {

/// Claims of one request; a store takes no more.
inline constexpr std::size_t claims_per_request = 16;

struct Claim {
  const rules::Policy* policy = nullptr;
  Hash128 identity;  ///< keyed hash of who is asking
  std::uint32_t policy_id =
      0;  ///< tells two policies of one identity apart; the policy's index in the configuration
  rules::Demand demand;
  bool shadow = false;  ///< decided and charged, but its denial does not deny the request
  std::span<const std::string_view> attributes;  ///< attributed_window: what the entry carries
};

}  // namespace weir::store
