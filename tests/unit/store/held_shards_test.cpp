#include "store/held_shards.hpp"

#include <array>
#include <future>
#include <vector>

#include "catch.hpp"

namespace weir::store {
namespace {

using Shards = std::vector<Shard*>;

Shard* same(Shard* const& shard) {
  return shard;
}

/// Asked from another thread: a thread may not try a mutex that it holds.
bool is_locked(Shard& shard) {
  return std::async(std::launch::async,
                    [&] {
                      if (!shard.mutex.try_lock()) return true;
                      shard.mutex.unlock();
                      return false;
                    })
      .get();
}

}  // namespace

TEST_CASE("The shards of a request are held once each, until the end of the scope") {
  std::array<Shard, 4> shards{Shard(1), Shard(1), Shard(1), Shard(1)};
  {
    const HeldShards held(Shards{&shards[2], &shards[0], &shards[2], &shards[1], &shards[0]}, same);
    CHECK(is_locked(shards[0]));
    CHECK(is_locked(shards[1]));
    CHECK(is_locked(shards[2]));
    CHECK_FALSE(is_locked(shards[3]));
  }
  for (Shard& shard : shards)
    CHECK_FALSE(is_locked(shard));
}

TEST_CASE("Held shards advance to the latest instant of any") {
  std::array<Shard, 3> shards{Shard(1), Shard(1), Shard(1)};
  shards[1].advance_to(instant_from_us(50));
  HeldShards held(Shards{&shards[0], &shards[1], &shards[2]}, same);
  CHECK(held.advance_to(instant_from_us(30)) == instant_from_us(50));
  for (const Shard& shard : shards)
    CHECK(shard.latest() == instant_from_us(50));
  CHECK(held.advance_to(instant_from_us(70)) == instant_from_us(70));
  for (const Shard& shard : shards)
    CHECK(shard.latest() == instant_from_us(70));
}

}  // namespace weir::store
