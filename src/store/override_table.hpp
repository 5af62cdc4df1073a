// The overrides of the memory store, by identity. Bounded in identities. An identity whose
// overrides have all ended is removed by remove_ended(), which is to be called periodically, and by
// put() if there is no room.
//
// Overrides end by the wall clock. put(), remove() and list() take instants on it; a Reading takes
// those of the store's clock, which follows no change of the wall clock, and adds the offset.
//
// Thread-safe: a Reading shares the lock, a change excludes all others. Without overrides, or once
// all of them have ended, a Reading costs two loads and no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/claim.hpp"
#include "store/override.hpp"

namespace weir::store {

class OverrideTable final : public Overrides {
 public:
  /// Identities that can have overrides: at most some 10 MiB.
  static constexpr std::size_t most_identities = 10'000;
  /// Identities that one call of remove_ended() removes.
  static constexpr std::size_t most_removed = 256;

  /// The table as it is during one decision. The numbers that it returns are valid as long as it.
  class Reading {
   public:
    /// `now`: of the store's clock, as below.
    Reading(const OverrideTable& table, Instant now) : table_(table) {
      if (table.on_wall_clock(now) < table.last_end_.load(std::memory_order_acquire))
        lock_ = std::shared_lock(table.mutex_);
    }
    bool has_any() const { return lock_.owns_lock(); }
    /// Only if has_any(). `now`: not before that of the constructor.
    OverrideInForce in_force(const Claim& claim, Instant now) const;

   private:
    const OverrideTable& table_;
    std::shared_lock<std::shared_mutex> lock_;
  };

  /// The wall clock less the store's clock.
  void set_wall_clock_offset(Duration offset) {
    wall_clock_offset_.store(offset, std::memory_order_relaxed);
  }

  /// Removes the identities whose overrides have all ended, at most `most_removed` of them, so that
  /// decisions wait for microseconds only. `now`: on the wall clock.
  void remove_ended(Instant now);

  // Each reports at once.
  void put(const Hash128& identity, const Override& entry, Instant now, Done done) override;
  void remove(const Hash128& identity, const std::string& policy, Instant now, Done done) override;
  void end_denials(Done done) override { done({}); }  // the memory store remembers none
  void list(const std::optional<Hash128>& identity, Instant now, std::stop_token over,
            Done done) override;

 private:
  /// The low word of a keyed hash is random enough.
  struct LowWord {
    std::size_t operator()(const Hash128& identity) const { return identity.low; }
  };
  struct Owned {
    std::vector<Override> overrides{};  ///< at least one
    Instant last_end{};                 ///< of `overrides`; Instant::max(): one does not end
  };
  using Identities = std::unordered_map<Hash128, Owned, LowWord>;
  struct EarlierEnd {
    bool operator()(const Identities::value_type* a, const Identities::value_type* b) const {
      return std::pair(a->second.last_end, a) < std::pair(b->second.last_end, b);
    }
  };

  Instant on_wall_clock(Instant now) const {
    return now + wall_clock_offset_.load(std::memory_order_relaxed);
  }
  using Outcome = OverrideReport::Outcome;

  Outcome add(Identities::iterator to, const Override& entry, Instant now);
  void update_end(Identities::iterator changed);
  void publish_last_end();
  std::vector<Identities::node_type> take_ended(Instant now);

  mutable std::shared_mutex mutex_;
  Identities identities_;
  std::set<const Identities::value_type*, EarlierEnd> by_end_;  ///< `identities_`
  std::atomic<Instant> last_end_{Instant::min()};               ///< of all; min(): there are none
  std::atomic<Duration> wall_clock_offset_{Duration{0}};
};

}  // namespace weir::store
