// A key of the memory store in 40 bytes: its hash, the data for eviction, and its state.
//
// Small states are part of the slot; states that grow (lists, logs, sub-windows) are owned through
// a pointer in it. A key that has had holds keeps state and holds together, in the same way: those
// of concurrency fit the slot, others are owned. It keeps that form until it is dropped, so holding
// again allocates nothing. A Slot is a plain value that tables move by memmove. Call release()
// before dropping one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "base/time.hpp"
#include "rules/holds.hpp"
#include "rules/rules.hpp"

namespace weir::store {

struct Slot {
  std::uint64_t hash = 0;  ///< of identity and policy; 0: the slot is empty
  std::uint32_t whole_at_s =
      0;  ///< seconds since the epoch, rounded up: from then on equal to an absent key
  /// The algorithm of the state, plus `with_holds` for Beside<State>, so that comparing it with the
  /// algorithm of a policy also tests for holds.
  rules::Algorithm algorithm{};
  bool denied = false;  ///< the last request with a cost was denied; true while units are held
  alignas(8) std::array<std::byte, 24> state{};

  bool occupied() const { return hash != 0; }
  bool whole(std::uint32_t now_s) const { return whole_at_s <= now_s; }

  static constexpr std::uint8_t with_holds = 0x80;
  bool has_beside() const { return static_cast<std::uint8_t>(algorithm) >= with_holds; }
  /// The algorithm, with or without holds.
  rules::Algorithm kind() const {
    return static_cast<rules::Algorithm>(static_cast<std::uint8_t>(algorithm) & ~with_holds);
  }
  /// Units are held: the key is neither swept nor evicted.
  bool pinned() const { return whole_at_s == std::numeric_limits<std::uint32_t>::max(); }
};

static_assert(sizeof(Slot) == 40 && std::is_trivially_copyable_v<Slot>);

/// A state and the holds beside it.
template <class State>
struct Beside {
  [[no_unique_address]] State state{};
  rules::Holds holds{};
};

/// Seconds of an instant as slots count them, limited to 32 bits.
constexpr std::uint32_t clamp_seconds(std::int64_t seconds) {
  constexpr std::int64_t end = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, 0, end));
}
constexpr std::uint32_t floor_s(Instant at) {
  return clamp_seconds(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
}
constexpr std::uint32_t ceil_s(Instant at) {
  return clamp_seconds(std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch()).count());
}

template <class State>
inline constexpr bool fits_slot = std::is_trivially_copyable_v<State> &&
                                  sizeof(State) <= sizeof(Slot::state) && alignof(State) <= 8;

/// The state of an occupied slot; State must be that of slot.algorithm.
template <class State>
State& state_in(Slot& slot) {
  if constexpr (fits_slot<State>) {
    return *std::launder(reinterpret_cast<State*>(slot.state.data()));
  } else {
    State* owned = nullptr;
    std::memcpy(&owned, slot.state.data(), sizeof(void*));
    return *owned;
  }
}

/// Puts a fresh state into a slot without state. If memory runs out the slot is unchanged.
template <class State>
State& put_state(Slot& slot, rules::Algorithm algorithm) {
  if constexpr (fits_slot<State>) {
    new (slot.state.data()) State{};
  } else {
    State* const owned = new State{};
    std::memcpy(slot.state.data(), &owned, sizeof(void*));
  }
  slot.algorithm = algorithm;
  return state_in<State>(slot);
}

/// As put_state(), with holds.
template <class State>
Beside<State>& put_beside(Slot& slot, rules::Algorithm algorithm) {
  return put_state<Beside<State>>(
      slot, static_cast<rules::Algorithm>(static_cast<std::uint8_t>(algorithm) | Slot::with_holds));
}

/// The units that a slot's key holds; 0 for an empty slot.
std::int64_t held_in(Slot& slot);

/// Frees the state of a slot, which has none then.
void release(Slot& slot);

}  // namespace weir::store
