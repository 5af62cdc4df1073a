#include "routing/pair_table.hpp"

#include "catch.hpp"

namespace weir::routing {
namespace {

TEST_CASE("an empty table has no pair") {
  const PairTable table;
  CHECK(table.find(0, 0) == 0);
  CHECK(table.find(1, 2) == 0);
}

TEST_CASE("every pair that was added is found, and no other, while the table grows") {
  PairTable table;
  PairTable::Number added = 0;
  for (PairTable::Number first = 0; first < 40; ++first) {
    for (PairTable::Number second = 0; second < 40; second += 2) {
      CHECK(table.find(first, second) == 0);
      table.add(first, second, ++added);
    }
    PairTable::Number number = 0;
    for (PairTable::Number known = 0; known <= first; ++known) {
      for (PairTable::Number second = 0; second < 40; second += 2)
        REQUIRE(table.find(known, second) == ++number);
      REQUIRE(table.find(known, 1) == 0);
    }
  }
  CHECK(table.find(40, 0) == 0);
}

TEST_CASE("a pair is not its reverse, and all of its numbers count") {
  PairTable table;
  table.add(1, 2, 7);
  table.add(0xFFFF'FFFF, 0xFFFF'FFFF, 8);
  CHECK(table.find(1, 2) == 7);
  CHECK(table.find(2, 1) == 0);
  CHECK(table.find(0xFFFF'FFFF, 0xFFFF'FFFF) == 8);
  CHECK(table.find(0xFFFF'FFFF, 0) == 0);
  CHECK(table.find(0, 0xFFFF'FFFF) == 0);
}

}  // namespace
}  // namespace weir::routing
