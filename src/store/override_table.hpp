// The overrides of the memory store, by identity. Bounded in identities; entries that have ended
// are removed by put().
//
// Thread-safe: a Reading shares the lock, a change excludes all others. Without overrides a Reading
// costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "store/claim.hpp"
#include "store/override.hpp"

namespace weir::store {

class OverrideTable final : public Overrides {
 public:
  /// Identities that can have overrides: at most some 10 MiB.
  static constexpr std::size_t most_identities = 10'000;

  /// The table as it is during one decision. The numbers that it returns are valid as long as it.
  class Reading {
   public:
    explicit Reading(const OverrideTable& table) : table_(table) {
      if (table.identities_.load(std::memory_order_acquire) > 0)
        lock_ = std::shared_lock(table.mutex_);
    }
    bool has_any() const { return lock_.owns_lock(); }
    /// Only if has_any().
    OverrideInForce in_force(const Claim& claim, Instant now) const;

   private:
    const OverrideTable& table_;
    std::shared_lock<std::shared_mutex> lock_;
  };

  // Each reports at once.
  void put(const Hash128& identity, const Override& entry, Instant now, Done done) override;
  void remove(const Hash128& identity, const std::string& policy, Instant now, Done done) override;
  void list(const std::optional<Hash128>& identity, Instant now, Done done) override;

 private:
  /// The low word of a keyed hash is random enough.
  struct LowWord {
    std::size_t operator()(const Hash128& identity) const { return identity.low; }
  };
  using Entries = std::vector<Override>;

  OverrideReport changed(OverrideReport::Outcome outcome);
  void remove_ended(Instant now);

  mutable std::shared_mutex mutex_;
  std::unordered_map<Hash128, Entries, LowWord> entries_;
  std::atomic<std::size_t> identities_{0};  ///< in `entries_`
};

}  // namespace weir::store
