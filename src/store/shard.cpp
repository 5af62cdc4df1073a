#include "store/shard.hpp"

#include <algorithm>
#include <tuple>

namespace weir::store {
namespace {

// Four slots a call, in strides that suit the memory prefetcher. Expired keys are reclaimed faster
// than new ones can arrive.
constexpr std::uint32_t calls_per_sweep = 8;
constexpr int slots_per_sweep = 32;

// An eviction compares this many keys.
constexpr int eviction_sample = 16;

constexpr std::size_t first_capacity = 62;  // with its spill, one page

/// The smallest is evicted: first keys that are not being denied, then by the time they are whole.
/// Keys that hold units count as denied and are never whole, so they come last.
auto worth(const Slot& slot) {
  return std::tuple(slot.denied, slot.whole_at_s);
}

}  // namespace

Shard::Shard(std::size_t max_keys)
    : table_(first_capacity), max_keys_(std::max<std::size_t>(max_keys, 1)) {}

void Shard::advance_to(Instant now) {
  if (now > latest_) {
    latest_ = now;
    latest_s_ = floor_s(now);
  }
  if (++calls_ % calls_per_sweep == 0) sweep();
}

Slot& Shard::under_hand() {
  if (hand_ >= table_.slots().size()) hand_ = 0;
  return table_.slots()[hand_];
}

void Shard::sweep() {
  for (int looked = 0; looked < slots_per_sweep; ++looked) {
    Slot& slot = under_hand();
    if (slot.occupied() && slot.whole(latest_s_)) {
      table_.erase(slot);  // the next one may have moved here
    } else {
      ++hand_;
    }
  }
  if (table_.size() * 4 < table_.capacity() && table_.capacity() > first_capacity) {
    table_.rebuild(std::max(first_capacity, table_.size() * 2), latest_s_);
  }
}

Slot& Shard::insert(std::uint64_t hash) {
  if (table_.size() > max_keys_) evict();  // the bound was lowered
  if (table_.size() >= max_keys_) evict();
  Slot* slot = table_.insert(hash);
  while (!slot) {
    make_room();
    slot = table_.insert(hash);
  }
  return *slot;
}

void Shard::erase(std::uint64_t hash) {
  Slot* const slot = table_.find(hash);
  if (slot == nullptr) return;
  held_ -= held_in(*slot);
  table_.erase(*slot);
}

void Shard::make_room() {
  const auto whole = std::ranges::count_if(table_.slots(), [this](const Slot& slot) {
    return slot.occupied() && slot.whole(latest_s_);
  });
  const bool worth_reclaiming = static_cast<std::size_t>(whole) * 4 > table_.size();
  table_.rebuild(worth_reclaiming ? table_.capacity() : next_capacity(), latest_s_);
}

// Grows by an eighth, to waste little memory, and not beyond what the bound can fill, unless the
// spill ran out.
std::size_t Shard::next_capacity() const {
  const std::size_t now = table_.capacity();
  const std::size_t grown = now + now / 8 + 1;
  const std::size_t enough = SlotTable::capacity_for(max_keys_);
  return now < enough ? std::min(grown, enough) : grown;
}

void Shard::evict() {
  Slot* victim = nullptr;
  int sampled = 0;
  for (std::size_t looked = 0; looked < table_.slots().size() && sampled < eviction_sample;
       ++looked) {
    Slot& slot = under_hand();
    ++hand_;
    if (!slot.occupied()) continue;
    ++sampled;
    if (!victim || slot.whole(latest_s_) || worth(slot) < worth(*victim)) victim = &slot;
    if (slot.whole(latest_s_)) break;
  }
  if (victim == nullptr || victim->pinned()) return;  // the table is empty, or all of these hold
  if (!victim->whole(latest_s_)) {
    ++evictions_;
    denied_evictions_ += victim->denied ? 1 : 0;
  }
  table_.erase(*victim);
}

}  // namespace weir::store
