// One shard of the memory store: a slot table under a mutex, with a time that never steps back, a
// bound in keys, and the sweep that finds room.
//
// Use everything but `mutex` only while holding it. insert() and sweep() move slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/time.hpp"
#include "store/slot_table.hpp"

namespace weir::store {

class alignas(64) Shard {
 public:
  /// `max_keys`: the most slots that are occupied, at least 1.
  explicit Shard(std::size_t max_keys);

  std::mutex mutex;

  Instant latest() const { return latest_; }
  void advance_to(Instant now);  ///< never before latest(); every few calls sweeps some slots

  void set_max_keys(std::size_t max_keys) { max_keys_ = std::max<std::size_t>(max_keys, 1); }

  Slot* find(std::uint64_t hash) { return table_.find(hash); }
  /// A slot without state for an absent key: grows the table, or evicts at the bound. Keys that
  /// hold units are not evicted: if all that are sampled do, the table grows beyond the bound.
  Slot& insert(std::uint64_t hash);
  void erase(std::uint64_t hash);  ///< if it is present
  /// Adds to the units that the keys hold.
  void add_held(std::int64_t units) { held_ += units; }

  std::int64_t held() const { return held_; }
  std::size_t keys() const { return table_.size(); }
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t denied_evictions() const { return denied_evictions_; }

 private:
  void sweep();
  void evict();
  void make_room();
  std::size_t next_capacity() const;
  Slot& under_hand();

  SlotTable table_;
  std::size_t max_keys_;
  std::size_t hand_ = 0;  ///< the next slot to sweep
  Instant latest_{};
  std::uint32_t latest_s_ = 0;
  std::uint32_t calls_ = 0;
  std::uint64_t evictions_ = 0;
  std::uint64_t denied_evictions_ = 0;
  std::int64_t held_ = 0;
};

}  // namespace weir::store
