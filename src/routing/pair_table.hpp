// Maps pairs of numbers to numbers: a flat hash table that is filled once and then only read. Pure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::routing {

class PairTable {
 public:
  using Number = std::uint32_t;

  /// A pair is added once; `number` is not 0.
  void add(Number first, Number second, Number number) {
    if (++size_ * 4 > slots_.size() * 3) grow();
    insert({.key = key_of(first, second), .number = number});
  }
  /// 0: the pair was not added.
  Number find(Number first, Number second) const {
    if (size_ == 0) return 0;
    const std::uint64_t key = key_of(first, second);
    for (std::size_t at = home_of(key); slots_[at].number != 0; at = next(at)) {
      if (slots_[at].key == key) return slots_[at].number;
    }
    return 0;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Number number = 0;  ///< 0: free
  };
  static std::uint64_t key_of(Number first, Number second) {
    return std::uint64_t{first} << 32U | second;
  }
  std::size_t home_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key ^ key >> 32U) * 0x9E37'79B9'7F4A'7C15 >> shift_);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void insert(const Slot& slot) {
    std::size_t at = home_of(slot.key);
    while (slots_[at].number != 0)
      at = next(at);
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : slots_.size() * 2);
    old.swap(slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old) {
      if (slot.number != 0) insert(slot);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace weir::routing
