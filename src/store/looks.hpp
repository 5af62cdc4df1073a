// Claims that charge nothing, for Store::peek().
#pragma once

#include <span>

#include <boost/container/static_vector.hpp>

#include "store/claim.hpp"

namespace weir::store {

using Looks = boost::container::static_vector<Claim, claims_per_request>;

/// The same claims with cost 0. Valid as long as the texts of `claims`.
inline Looks looks_of(std::span<const Claim> claims) {
  Looks looks(claims.begin(), claims.end());
  for (Claim& look : looks)
    look.demand = {.cost = 0};
  return looks;
}

}  // namespace weir::store
