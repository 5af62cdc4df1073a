#include "redis/catalog.hpp"

#include <algorithm>
#include <utility>

namespace weir::redis {

void Catalog::extend(CatalogEntries entries) {
  if (holding_.size() < entries.holding_policies.size())
    holding_.resize(entries.holding_policies.size());
  for (std::size_t i = 0; i < entries.holding_policies.size(); ++i)
    if (entries.holding_policies[i]) holding_[i] = true;
  policy_names_ = std::move(entries.policy_names);
  keys_ = {.prefix = prefix_, .policy_names = policy_names_};
  scripts_.add(entries.algorithm_sets);
}

bool Catalog::holds(std::span<const store::Claim> claims) const {
  return std::ranges::any_of(claims, [this](const store::Claim& claim) {
    return claim.holds || (claim.policy_id < holding_.size() && holding_[claim.policy_id]);
  });
}

}  // namespace weir::redis
