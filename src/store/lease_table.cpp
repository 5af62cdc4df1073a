#include "store/lease_table.hpp"

#include <algorithm>

namespace weir::store {

LeasedKey* LeaseTable::find(const Key& key) {
  if (sets_.empty()) return nullptr;
  for (LeasedKey& one : set_of(key)) {
    if (one.is_used && one.key.policy_id == key.policy_id && one.key.identity == key.identity)
      return &one;
  }
  return nullptr;
}

LeasedKey* LeaseTable::find(const Claim& claim) {
  LeasedKey* const found = find({claim.identity, claim.policy_id});
  return found != nullptr && found->revision == claim.policy_revision ? found : nullptr;
}

LeasedKey* LeaseTable::take(const Claim& claim) {
  const Key key{claim.identity, claim.policy_id};
  if (sets_.empty()) {
    active_.reserve(most_sets_ * std::tuple_size_v<Set>);
    sets_ = std::vector<Set>(most_sets_);
  }
  LeasedKey* place = find(key);
  if (place != nullptr && place->revision == claim.policy_revision) return place;
  if (place == nullptr) {
    for (LeasedKey& one : set_of(key)) {
      if (one.is_active) continue;
      if (place == nullptr ||
          one.lease.demand().last_request() < place->lease.demand().last_request())
        place = &one;
    }
  }
  // A key has the lease of one revision at a time.
  if (place == nullptr || place->is_active) return nullptr;
  *place = {.key = key,
            .revision = claim.policy_revision,
            .is_used = true,
            .limit = claim.policy->capacity};
  return place;
}

void LeaseTable::activate(LeasedKey& key, const Claim& claim) {
  if (key.is_active) return;
  key.policy = std::make_shared<const rules::Policy>(*claim.policy);
  key.units = *claim.lease;
  active_.push_back(&key);
  key.is_active = true;
}

}  // namespace weir::store
