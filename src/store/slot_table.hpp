// An open-addressing table of slots in ascending order of their hashes. Linear probing: a slot's
// home is its hash scaled to the capacity, and a new slot is inserted in order. So a search ends at
// the first larger hash, removal shifts back without tombstones, and growing is one pass in order.
//
// Grows only by rebuild(); insert() returns nullptr if there is no room. Owns the states of its
// slots. Not thread-safe; insert, erase and rebuild move slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "store/key_hash.hpp"
#include "store/slot.hpp"

namespace weir::store {

/// Zeroed slots in pages of their own. On the heap, tables that grow often would cause
/// fragmentation.
class SlotArray {
 public:
  /// When the kernel maps the pages: `at_once` is faster for a table that is filled immediately.
  enum class Pages : std::uint8_t { when_touched, at_once };
  SlotArray(std::size_t at_least, Pages pages_wanted);
  ~SlotArray();
  SlotArray(SlotArray&& other) noexcept : slots_(std::exchange(other.slots_, {})) {}
  SlotArray& operator=(SlotArray&& other) noexcept {
    std::swap(slots_, other.slots_);
    return *this;
  }

  std::span<Slot> slots() const { return slots_; }

 private:
  std::span<Slot> slots_;
};

class SlotTable {
 public:
  /// At nine tenths a search reads five slots on average.
  static constexpr std::size_t room_in(std::size_t capacity) { return capacity - capacity / 10; }
  static constexpr std::size_t capacity_for(std::size_t keys) { return keys + keys / 9 + 1; }

  explicit SlotTable(std::size_t capacity);
  ~SlotTable();
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// Occupied and empty slots in order of their hashes; the last one is always empty.
  std::span<Slot> slots() { return array_.slots(); }

  /// nullptr if the hash is absent.
  Slot* find(std::uint64_t hash) {
    Slot* const at = lower_bound(hash);
    return at->hash == hash ? at : nullptr;
  }
  /// A new slot without state for an absent hash; nullptr if there is no room.
  Slot* insert(std::uint64_t hash);
  void erase(Slot& slot);
  /// Moves to a table of at least that capacity, without the slots that are whole at that second.
  /// Throws std::bad_alloc and changes nothing if memory runs out.
  void rebuild(std::size_t capacity, std::uint32_t now_s);

 private:
  std::size_t home(std::uint64_t hash) const { return scaled(hash, capacity_); }
  Slot* lower_bound(std::uint64_t hash) {
    Slot* at = array_.slots().data() + home(hash);
    while (at->hash < hash && at->occupied())
      ++at;
    return at;
  }

  SlotArray array_;
  std::size_t capacity_;  ///< homes; the array has spill slots beyond
  std::size_t size_ = 0;
};

}  // namespace weir::store
