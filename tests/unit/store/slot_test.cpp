#include "store/slot.hpp"

#include <cstdint>
#include <limits>

#include "catch.hpp"

namespace weir::store {

TEST_CASE("Seconds of a slot are rounded and bounded") {
  CHECK(ceil_s(instant_from_us(1)) == 1);
  CHECK(ceil_s(instant_from_us(1'000'000)) == 1);
  CHECK(floor_s(instant_from_us(1'999'999)) == 1);
  CHECK(floor_s(instant_from_us(2'000'000)) == 2);
  CHECK(ceil_s(instant_from_us(1'000'001)) == 2);
  CHECK(floor_s(instant_from_us(-1)) == 0);
  CHECK(ceil_s(instant_from_us(-2'000'000)) == 0);
  CHECK(clamp_seconds(0xFFFF'FFFF) == 0xFFFF'FFFF);
  CHECK(clamp_seconds(0x1'0000'0000) == 0xFFFF'FFFF);
  CHECK(ceil_s(Instant::max()) == std::numeric_limits<std::uint32_t>::max());
}

TEST_CASE("A slot is whole from its second on, and occupied by a hash other than 0") {
  Slot slot{.whole_at_s = 10};
  CHECK_FALSE(slot.occupied());
  slot.hash = 1;
  CHECK(slot.occupied());
  CHECK_FALSE(slot.whole(9));
  CHECK(slot.whole(10));
  CHECK(slot.whole(11));
}

TEST_CASE("A slot has a state that fits, and owns one that does not") {
  Slot small{.hash = 1};
  put_state<rules::GcraState>(small, rules::Algorithm::gcra).tat_us = 7;
  CHECK(small.algorithm == rules::Algorithm::gcra);
  CHECK(state_in<rules::GcraState>(small).tat_us == 7);
  // the bytes of the slot are all there is to move
  Slot moved = small;
  CHECK(state_in<rules::GcraState>(moved).tat_us == 7);
  release(small);

  static_assert(!fits_slot<rules::SlidingLogState>);
  Slot large{.hash = 2};
  put_state<rules::SlidingLogState>(large, rules::Algorithm::sliding_log).dropped = 9;
  moved = large;
  CHECK(&state_in<rules::SlidingLogState>(moved) == &state_in<rules::SlidingLogState>(large));
  CHECK(state_in<rules::SlidingLogState>(moved).dropped == 9);
  release(moved);
}

TEST_CASE("A state that is put into a slot is fresh") {
  Slot slot{.hash = 1};
  put_state<rules::GcraState>(slot, rules::Algorithm::gcra).tat_us = 7;
  release(slot);
  CHECK(put_state<rules::GcraState>(slot, rules::Algorithm::gcra) == rules::GcraState{});
  release(slot);
}

}  // namespace weir::store
