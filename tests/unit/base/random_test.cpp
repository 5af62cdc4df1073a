#include "base/random.hpp"

#include "catch.hpp"

namespace weir {
namespace {

TEST_CASE("a seed gives the numbers of SplitMix64") {
  // The reference implementation of the paper's authors, from this seed.
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
  CHECK(random.next() == 9817491932198370423ULL);
}

TEST_CASE("the seed 0 gives numbers that differ") {
  Random random(0);
  CHECK(random.next() != random.next());
}

TEST_CASE("two seeds from the system differ") {
  CHECK(random_seed() != random_seed());
}

}  // namespace
}  // namespace weir
