// The part of a configuration for decisions about requests. Immutable once loaded; shared by all
// workers.
#pragma once

#include <vector>

#include "base/address_list.hpp"
#include "base/siphash.hpp"
#include "identity/identity.hpp"
#include "identity/token_provider.hpp"
#include "limiter/plans.hpp"
#include "limiter/policy.hpp"

namespace weir::limiter {

/// The largest number of `identities`; the loader refuses more.
inline constexpr std::size_t identity_limit = 64;

struct Options {
  SipKey identity_key;  ///< from identity_secret
  std::vector<identity::TokenProvider> token_providers{};
  std::vector<identity::Definition> identities;
  std::vector<Policy> policies;
  std::vector<AddressList> address_lists{};  ///< of routes and of conditions
  Plans plans{};
};

}  // namespace weir::limiter
