// The keys whose demand a worker observes, and their leases. Bounded: a new key replaces the least
// recently used inactive key of its set. A key does not move while it is in the table.
//
// Belongs to one worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "rules/policy.hpp"
#include "store/key_hash.hpp"
#include "store/lease.hpp"
#include "store/store.hpp"

namespace weir::store {

struct LeaseQuestion;

struct LeasedKey {
  Key key;
  std::uint32_t revision = 0;  ///< of the policy's definition
  bool is_used = false;
  bool is_active = false;  ///< in LeaseTable::active()
  std::int64_t limit = 0;  ///< in force by the latest reply, at first that of the policy
  Lease lease{};
  LeaseQuestion* question = nullptr;              ///< in flight
  std::shared_ptr<const rules::Policy> policy{};  ///< while active
  std::shared_ptr<Gauge> units{};                 ///< while active: in leases of the policy
};

class LeaseTable {
 public:
  /// `sets`: a power of two, of four keys each. `seed`: of the hash; random in production.
  LeaseTable(std::size_t sets, std::uint64_t seed) : hash_(seed), most_sets_(sets) {}

  /// The key of a claim; nullptr: it is not observed.
  LeasedKey* find(const Claim& claim);
  LeasedKey* find(const Key& key);
  /// The same, which is added if it is absent; nullptr: the keys of its set are all active.
  /// Allocates the table at the first call; throws std::bad_alloc and changes nothing then.
  LeasedKey* take(const Claim& claim);

  /// Keys that have units or a question in flight, or had lately.
  const std::vector<LeasedKey*>& active() const { return active_; }
  void activate(LeasedKey& key, const Claim& claim);
  /// Calls `keep(key)` for each active key, and deactivates those for which it returns false.
  template <class Keep>
  void sweep(Keep&& keep) {
    std::erase_if(active_, [&](LeasedKey* key) {
      if (keep(*key)) return false;
      key->is_active = false;
      key->policy.reset();
      key->units.reset();
      return true;
    });
  }

 private:
  using Set = std::array<LeasedKey, 4>;
  Set& set_of(const Key& key) {
    return sets_[hash_(key.identity, key.policy_id) & (sets_.size() - 1)];
  }

  KeyHash hash_;
  std::size_t most_sets_;
  std::vector<Set> sets_;  ///< empty before the first key
  std::vector<LeasedKey*> active_;
};

}  // namespace weir::store
