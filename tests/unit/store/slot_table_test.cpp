#include "store/slot_table.hpp"

#include <map>
#include <random>

#include "catch.hpp"
#include "seed.hpp"
#include "store/key_hash.hpp"

namespace weir::store {
namespace {

/// Every slot in order of its hash, none before its home, the last one empty.
void check_order(SlotTable& table) {
  std::uint64_t previous = 0;
  std::size_t occupied = 0;
  for (std::size_t i = 0; i < table.slots().size(); ++i) {
    const Slot& slot = table.slots()[i];
    if (!slot.occupied()) continue;
    REQUIRE(slot.hash > previous);
    REQUIRE(scaled(slot.hash, table.capacity()) <= i);
    previous = slot.hash;
    ++occupied;
  }
  REQUIRE(occupied == table.size());
  REQUIRE_FALSE(table.slots().back().occupied());
}

/// Fills a new slot with a state that only this hash has.
void fill(Slot& slot, std::uint32_t whole_at_s) {
  slot.whole_at_s = whole_at_s;
  const auto mark = static_cast<std::int64_t>(slot.hash >> 1);
  if (slot.hash % 3 == 0) {
    put_state<rules::SlidingLogState>(slot, rules::Algorithm::sliding_log).dropped = mark;
  } else {
    put_state<rules::TokenBucketState>(slot, rules::Algorithm::token_bucket).remainder = mark;
  }
}

bool is_filled(Slot& slot) {
  const auto mark = static_cast<std::int64_t>(slot.hash >> 1);
  return slot.hash % 3 == 0 ? state_in<rules::SlidingLogState>(slot).dropped == mark
                            : state_in<rules::TokenBucketState>(slot).remainder == mark;
}

}  // namespace

TEST_CASE("A slot table does what a map does") {
  const std::uint64_t seed = 3;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  SlotTable table(1);
  std::map<std::uint64_t, std::uint32_t> model;  // hash -> whole_at_s
  // Few distinct homes, so that clusters are long; both ends of the table among them.
  const auto any_hash = [&] {
    const std::uint64_t home = random() % 5 == 0 ? ~std::uint64_t{0} << 56 : random() % 64 << 58;
    return home + random() % 97 + 1;
  };
  for (int step = 0; step < history_length(30'000); ++step) {
    const std::uint64_t hash = any_hash();
    Slot* slot = table.find(hash);
    REQUIRE((slot != nullptr) == model.contains(hash));
    if (slot) {
      REQUIRE(is_filled(*slot));
      REQUIRE(slot->whole_at_s == model[hash]);
    }
    if (slot && random() % 3 == 0) {
      table.erase(*slot);
      model.erase(hash);
    } else if (!slot) {
      for (slot = table.insert(hash); !slot; slot = table.insert(hash)) {
        table.rebuild(table.capacity() + table.capacity() / 8 + 1, 0);
      }
      fill(*slot, static_cast<std::uint32_t>(random() % 1'000 + 1));
      model[hash] = slot->whole_at_s;
    }
    if (step % 500 == 0) {
      const auto now_s = static_cast<std::uint32_t>(random() % 200);
      table.rebuild(SlotTable::capacity_for(table.size()), now_s);
      std::erase_if(model, [&](const auto& entry) { return entry.second <= now_s; });
      check_order(table);
      REQUIRE(table.size() == model.size());
    }
  }
}

TEST_CASE("A slot table is full at nine tenths and loses nothing when it grows") {
  const KeyHash key_hash(5);
  SlotTable table(1);
  std::uint32_t policy_id = 0;
  for (std::size_t target : {std::size_t{200}, std::size_t{1'000}, std::size_t{5'000}}) {
    while (table.size() < target) {
      Slot* const slot = table.insert(key_hash({}, policy_id));
      if (slot) {
        fill(*slot, 1'000);
        ++policy_id;
        continue;
      }
      CHECK(table.size() > table.capacity() * 3 / 4);
      table.rebuild(table.capacity() * 5 / 4, 0);
    }
    check_order(table);
    for (std::uint32_t id = 0; id < policy_id; ++id) {
      Slot* const slot = table.find(key_hash({}, id));
      REQUIRE(slot);
      REQUIRE(is_filled(*slot));
    }
  }
}

TEST_CASE("A slot table uses its pages of 4096 bytes fully, and no page more than it needs") {
  struct Row {
    std::size_t wanted, capacity;
  };
  for (const Row& row : {Row{1, 62}, {62, 62}, {63, 164}, {472, 472}, {473, 574}, {4'056, 4'056}}) {
    CAPTURE(row.wanted);
    CHECK(SlotTable(row.wanted).capacity() == row.capacity);
  }
}

}  // namespace weir::store
