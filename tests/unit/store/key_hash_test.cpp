#include "store/key_hash.hpp"

#include <cstdint>

#include "catch.hpp"

namespace weir::store {

TEST_CASE("Key hashes depend on identity, policy and seed") {
  const Hash128 identity{.low = 1, .high = 2};
  const KeyHash hash(1);
  CHECK(hash(identity, 0) == KeyHash(1)(identity, 0));
  CHECK(hash(identity, 0) != hash(identity, 1));
  CHECK(hash(identity, 0) != hash({.low = 2, .high = 1}, 0));
  CHECK(hash(identity, 0) != hash({.low = 1, .high = 3}, 0));
  CHECK(hash(identity, 0) != hash({.low = 3, .high = 2}, 0));
  CHECK(hash(identity, 0) != KeyHash(2)(identity, 0));
}

TEST_CASE("Key hashes fold the key with words of SplitMix64") {
  // Computed with whole numbers of any size from the first four words of the seeds.
  CHECK(KeyHash(0)({.low = 1, .high = 2}, 3) == 0x48357950d31df560);
  CHECK(KeyHash(1)({.low = 1, .high = 2}, 0) == 0xd5d192d8d5ef492a);
}

TEST_CASE("A scaled hash is a position below n, and keeps the order of hashes") {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  CHECK(scaled(0, 7) == 0);
  CHECK(scaled(~std::uint64_t{0}, 7) == 6);
  CHECK(scaled(half - 1, 2) == 0);
  CHECK(scaled(half, 2) == 1);
  CHECK(scaled(half, 1'000'001) == 500'000);
  CHECK(scaled(~std::uint64_t{0}, 1) == 0);
}

}  // namespace weir::store
