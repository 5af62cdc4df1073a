#include "store/slot_table.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <sys/mman.h>

namespace weir::store {
namespace {

constexpr std::size_t page = 4096;

// Slots after the last home, for slots that are pushed there. One in thousands of full tables runs
// out of them and grows early.
constexpr std::size_t spill = 40;

/// Copies the slots that are not whole to `to`. Returns their number, or nothing if the spill ran
/// out.
std::optional<std::size_t> copy_in_order(std::span<const Slot> from, std::span<Slot> to,
                                         std::uint32_t now_s) {
  const std::size_t capacity = to.size() - spill;
  std::size_t free = 0;
  std::size_t count = 0;
  for (const Slot& slot : from) {
    if (!slot.occupied() || slot.whole(now_s)) continue;
    const std::size_t at = std::max<std::size_t>(scaled(slot.hash, capacity), free);
    free = at + 1;
    if (free >= to.size()) return std::nullopt;
    to[at] = slot;
    ++count;
  }
  return count;
}

}  // namespace

std::int64_t held_in(Slot& slot) {
  if (!slot.occupied() || !slot.has_beside()) return 0;
  return rules::with_state_of(slot.kind(), [&]<class State>(const State&) {
    return state_in<Beside<State>>(slot).holds.held;
  });
}

void release(Slot& slot) {
  if (slot.has_beside()) {
    rules::with_state_of(slot.kind(), [&]<class State>(const State&) {
      if constexpr (!fits_slot<Beside<State>>) delete &state_in<Beside<State>>(slot);
    });
    slot.algorithm = {};
    return;
  }
  rules::with_state_of(slot.algorithm, [&]<class State>(const State&) {
    if constexpr (!fits_slot<State>) delete &state_in<State>(slot);
  });
  slot.algorithm = {};
}

SlotArray::SlotArray(std::size_t at_least, Pages pages_wanted) {
  const std::size_t bytes = (at_least * sizeof(Slot) + page - 1) / page * page;
  const int populate = pages_wanted == Pages::at_once ? MAP_POPULATE : 0;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  slots_ = {static_cast<Slot*>(pages), bytes / sizeof(Slot)};
}

SlotArray::~SlotArray() {
  if (!slots_.empty()) munmap(slots_.data(), slots_.size_bytes());
}

SlotTable::SlotTable(std::size_t capacity)
    : array_(capacity + spill, SlotArray::Pages::when_touched),
      capacity_(array_.slots().size() - spill) {}

SlotTable::~SlotTable() {
  for (Slot& slot : slots()) {
    if (slot.occupied()) release(slot);
  }
}

Slot* SlotTable::insert(std::uint64_t hash) {
  if (size_ >= room_in(capacity_)) return nullptr;
  Slot* const at = lower_bound(hash);
  Slot* gap = at;
  while (gap->occupied())
    ++gap;
  if (gap == &slots().back()) return nullptr;
  std::copy_backward(at, gap, gap + 1);
  *at = Slot{.hash = hash};
  ++size_;
  return at;
}

void SlotTable::erase(Slot& slot) {
  release(slot);
  Slot* hole = &slot;
  for (Slot* next = hole + 1; next->occupied() && slots().data() + home(next->hash) < next;
       ++next) {
    *hole = *next;
    hole = next;
  }
  *hole = Slot{};
  --size_;
}

void SlotTable::rebuild(std::size_t capacity, std::uint32_t now_s) {
  SlotArray target(capacity + spill, SlotArray::Pages::at_once);
  auto kept = copy_in_order(slots(), target.slots(), now_s);
  while (!kept) {
    target = SlotArray(target.slots().size() + page / sizeof(Slot), SlotArray::Pages::at_once);
    kept = copy_in_order(slots(), target.slots(), now_s);
  }
  for (Slot& slot : slots()) {
    if (slot.occupied() && slot.whole(now_s)) release(slot);
  }
  array_ = std::move(target);
  capacity_ = slots().size() - spill;
  size_ = *kept;
}

}  // namespace weir::store
