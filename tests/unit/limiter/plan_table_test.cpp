#include "limiter/plan_table.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::limiter {

TEST_CASE("a table finds what was added, at 24 bytes an entry") {
  constexpr std::size_t count = 100'000;
  const TestSeed seed;
  std::mt19937_64 random(seed);
  std::vector<Hash128> clients;
  PlanTable table(count);
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back({.low = random(), .high = random()});
    REQUIRE(table.add(clients.back(), static_cast<std::uint16_t>(i % 1'000)) == i % 1'000);
  }
  CHECK(table.add(clients[7], 9) == 7);
  CHECK(table.size() == count);
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(table.find(clients[i]) == i % 1'000);
  CHECK_FALSE(table.find({.low = random(), .high = random()}));
  CHECK(table.bytes() <= 25 * count);
  PlanTable same(2 * count);
  for (std::size_t i = count; i-- > 0;)
    same.add(clients[i], static_cast<std::uint16_t>(i % 1'000));
  CHECK(same == table);
  PlanTable other(count);
  for (std::size_t i = 0; i < count; ++i)
    other.add(clients[i], 1);
  CHECK_FALSE(other == table);
}

TEST_CASE("a table without entries finds no identity and equals any other without entries") {
  CHECK_FALSE(PlanTable().find({}));
  CHECK_FALSE(PlanTable(0).find({}));
  CHECK_FALSE(PlanTable(5).find({}));
  CHECK(PlanTable().bytes() == 0);
  CHECK(PlanTable() == PlanTable(5));
  PlanTable one(5);
  one.add({}, 0);
  CHECK(one.find(Hash128{}) == 0);
  CHECK_FALSE(one == PlanTable());
  CHECK_FALSE(PlanTable() == one);
}

TEST_CASE("clients whose hashes begin at the same place are kept apart, also at the table's end") {
  for (const std::size_t most : {1, 2, 3, 4, 7, 100}) {
    const std::uint64_t places = PlanTable(most).bytes() / 18;
    REQUIRE(places > most);  // a search ends at an unused one
    for (const std::uint64_t first : {std::uint64_t{0}, places - 1, places - 1 + 5 * places}) {
      PlanTable table(most);
      for (std::uint16_t i = 0; i < most; ++i)
        CHECK(table.add({.low = first, .high = i}, i) == i);
      CHECK(table.size() == most);
      for (std::uint16_t i = 0; i < most; ++i)
        CHECK(table.find({.low = first, .high = i}) == i);
      CHECK_FALSE(table.find({.low = first, .high = most}));
      CHECK_FALSE(table.find({.low = first + places, .high = 0}));
    }
  }
}

TEST_CASE("an unknown plan is an entry of its own, which a later line does not replace") {
  PlanTable table(2);
  CHECK(table.add({.low = 1}, PlanTable::unknown) == PlanTable::unknown);
  CHECK(table.add({.low = 1}, 0) == PlanTable::unknown);
  CHECK(table.find({.low = 1}) == PlanTable::unknown);
  CHECK(table.size() == 1);
  PlanTable known(2);
  known.add({.low = 1}, 0);
  CHECK_FALSE(table == known);
}

TEST_CASE("tables of the same size are equal only with the same clients and plans") {
  struct Row {
    Hash128 client;
    std::uint16_t plan;
    bool is_equal;
  };
  PlanTable table(1);
  table.add({.low = 1, .high = 2}, 3);
  for (const auto& row :
       {Row{{.low = 1, .high = 2}, 3, true}, Row{{.low = 1, .high = 2}, 4, false},
        Row{{.low = 1, .high = 3}, 3, false}, Row{{.low = 2, .high = 2}, 3, false}}) {
    PlanTable other(10);
    other.add(row.client, row.plan);
    CHECK((other == table) == row.is_equal);
    CHECK((table == other) == row.is_equal);
  }
}

}  // namespace weir::limiter
