#include "store/shard.hpp"

#include <initializer_list>

#include "catch.hpp"

namespace weir::store {
namespace {

Instant second(std::int64_t s) {
  return instant_from_us(s * 1'000'000);
}

/// A key that is whole at that second.
Slot& add(Shard& shard, std::uint64_t hash, std::uint32_t whole_at_s) {
  Slot& slot = shard.insert(hash);
  put_state<rules::GcraState>(slot, rules::Algorithm::gcra);
  slot.whole_at_s = whole_at_s;
  return slot;
}

bool has_all(Shard& shard, std::initializer_list<std::uint64_t> hashes) {
  for (const std::uint64_t hash : hashes) {
    if (shard.find(hash) == nullptr) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("The time of a shard never steps back") {
  Shard shard(10);
  shard.advance_to(second(10));
  shard.advance_to(second(5));
  CHECK(shard.latest() == second(10));
  shard.advance_to(second(11));
  CHECK(shard.latest() == second(11));
}

TEST_CASE("A key is present from insert to erase") {
  Shard shard(10);
  CHECK(shard.find(7) == nullptr);
  Slot& slot = add(shard, 7, 100);
  CHECK(shard.find(7) == &slot);
  CHECK(shard.keys() == 1);
  shard.erase(8);
  CHECK(shard.keys() == 1);
  shard.erase(7);
  CHECK(shard.find(7) == nullptr);
  CHECK(shard.keys() == 0);
  CHECK(shard.evictions() == 0);
}

TEST_CASE("At its bound a shard evicts the key that is whole first") {
  Shard shard(3);
  for (const std::uint32_t whole_at_s : {100U, 50U, 200U})
    add(shard, whole_at_s, whole_at_s);
  add(shard, 4, 300);
  CHECK(shard.keys() == 3);
  CHECK(has_all(shard, {100, 200, 4}));
  CHECK(shard.evictions() == 1);
  CHECK(shard.denied_evictions() == 0);
}

TEST_CASE("At its bound a shard evicts a denied key last, and counts it") {
  Shard shard(2);
  add(shard, 1, 50).denied = true;
  add(shard, 2, 200);
  add(shard, 3, 60).denied = true;
  CHECK(has_all(shard, {1, 3}));
  CHECK(shard.denied_evictions() == 0);
  add(shard, 4, 70);
  CHECK(has_all(shard, {3, 4}));
  CHECK(shard.evictions() == 2);
  CHECK(shard.denied_evictions() == 1);
}

TEST_CASE("A key that is whole is evicted before any other, and not counted") {
  Shard shard(2);
  shard.advance_to(second(100));
  add(shard, 1, 101);
  add(shard, 9, 100).denied = true;
  add(shard, 2, 102);
  CHECK(has_all(shard, {1, 2}));
  CHECK(shard.keys() == 2);
  CHECK(shard.evictions() == 0);
  CHECK(shard.denied_evictions() == 0);
}

TEST_CASE("A lower bound evicts two keys for each new one, and a bound is at least 1") {
  Shard shard(4);
  for (std::uint64_t hash = 1; hash <= 4; ++hash)
    add(shard, hash, 100);
  shard.set_max_keys(1);
  add(shard, 5, 100);
  CHECK(shard.keys() == 3);
  add(shard, 6, 100);
  CHECK(shard.keys() == 2);
  add(shard, 7, 100);
  CHECK(shard.keys() == 1);
  shard.set_max_keys(0);
  add(shard, 8, 100);
  CHECK(shard.keys() == 1);
  Shard smallest(0);
  add(smallest, 1, 100);
  CHECK(smallest.keys() == 1);
}

TEST_CASE("A full table is reclaimed if more than a quarter of its keys are whole, or else grows") {
  struct Row {
    int whole;
    bool reclaimed;
  };
  constexpr int room = 56;  // of the first table
  for (const auto& [whole, reclaimed] :
       {Row{1, false}, Row{14, false}, Row{15, true}, Row{room, true}}) {
    CAPTURE(whole);
    Shard shard(1'000);
    shard.advance_to(second(100));
    std::uint64_t last = 0;
    const auto add_keys = [&](int count, std::uint32_t whole_at_s) {
      for (int i = 0; i < count; ++i)
        add(shard, ++last << 55, whole_at_s);
    };
    add_keys(whole, 100);
    add_keys(room - whole, 200);
    CHECK(shard.keys() == room);
    add_keys(1, 200);
    const int kept = room - whole + 1;
    CHECK(shard.keys() == static_cast<std::size_t>(kept));
    // A table of the same capacity is full at the same number of keys, and drops those that are
    // whole.
    add_keys(room - kept, 100);
    add_keys(1, 200);
    CHECK(shard.keys() == static_cast<std::size_t>(reclaimed ? kept + 1 : room + 1));
  }
}

TEST_CASE("Every eighth call sweeps keys that are whole") {
  Shard shard(1'000);
  for (std::uint64_t i = 1; i <= 40; ++i)
    add(shard, i << 58, i % 2 == 0 ? 5 : 100);
  for (int call = 0; call < 7; ++call)
    shard.advance_to(second(5));
  CHECK(shard.keys() == 40);
  shard.advance_to(second(5));
  CHECK(shard.keys() < 40);
  CHECK(shard.keys() > 20);  // not all at once
  for (int call = 0; call < 48; ++call)
    shard.advance_to(second(5));
  CHECK(shard.keys() == 20);
  for (std::uint64_t i = 1; i <= 40; ++i)
    CHECK((shard.find(i << 58) != nullptr) == (i % 2 != 0));
  CHECK(shard.evictions() == 0);
}

}  // namespace weir::store
