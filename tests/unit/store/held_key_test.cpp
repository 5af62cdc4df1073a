#include "store/held_key.hpp"

#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "seed.hpp"
#include "unit/store/memory_store_under_test.hpp"

namespace weir::store::test {

TEST_CASE("The memory store keeps the contract of holds") {
  for (const auto& one : hold_contract) {
    DYNAMIC_SECTION(one.name) {
      MemoryStoreUnderTest store(1'000);
      REQUIRE(store.supports_holds());
      one.run(store);
    }
  }
}

TEST_CASE("The memory store holds and settles random requests as the model does") {
  const TestSeed seed;
  for (const auto algorithm : holding_algorithms) {
    const std::vector walks{
        Walk{.seed = 31, .clock_steps_back = true}, Walk{.seed = 32, .policies_change = true},
        Walk{.seed = 33, .identities = 5, .overrides_change = true}, Walk{.seed = seed}};
    for (const Walk& walk : walks) {
      DYNAMIC_SECTION(to_string(algorithm) << " " << walk.seed) {
        MemoryStoreUnderTest store(1'000);
        HoldWalk(store, policies_of(algorithm), walk).run();
        CHECK(store.memory.holds() == 0);
        CHECK(store.memory.settlements_lost() == 0);
      }
    }
  }
}

TEST_CASE("Many shards hold and settle random requests as the model does") {
  std::vector<rules::Policy> policies;
  for (const auto algorithm : holding_algorithms) {
    for (auto& limit : policies_of(algorithm))
      policies.push_back(std::move(limit));
  }
  MemoryStoreUnderTest store(1'000'000);
  HoldWalk(store, policies, {.seed = 34, .identities = 300}).run();
  CHECK(store.memory.holds() == 0);
}

TEST_CASE("Keys that hold are not evicted, and the table grows for them") {
  MemoryStoreUnderTest store(20);
  const auto slots = policy(rules::Algorithm::concurrency, 2, 1s);
  const auto rate = policy(rules::Algorithm::gcra, 1, 1'000s);
  for (std::uint64_t who = 1; who <= 200; ++who)
    REQUIRE(ask(store, epoch, {holding(slots, who, 2)}).admitted);
  CHECK(store.memory.holds() == 400);
  CHECK(store.memory.keys() == 200);
  CHECK(store.memory.evictions() == 0);
  // Denied and absent keys come and go beside them.
  for (std::uint64_t who = 1'000; who < 1'200; ++who) {
    ask(store, epoch + 1s, {claim(rate, who, 1, 1)});
    ask(store, epoch + 1s, {claim(rate, who, 1, 1)});
  }
  for (std::uint64_t who = 1; who <= 200; ++who) {
    const Claim claim = holding(slots, who, 1);
    REQUIRE_FALSE(ask(store, epoch + 24h, {claim}).admitted);
    settle_one(store, settlement_of(claim, 2, 0), epoch + 24h);
  }
  CHECK(store.memory.holds() == 0);
  // Two evictions for each new key bring the table back to its bound.
  for (std::uint64_t who = 2'000; who < 2'400; ++who)
    ask(store, epoch + 24h, {claim(rate, who, 1, 1)});
  CHECK(store.memory.keys() <= 20);
}

TEST_CASE("Random holds survive the eviction of other keys") {
  const TestSeed seed;
  std::mt19937_64 random(seed);
  MemoryStoreUnderTest store(50);
  const auto slots = policy(rules::Algorithm::concurrency, 3, 1s);
  const auto rate = policy(rules::Algorithm::token_bucket, 5, 60s);
  std::map<std::uint64_t, std::int64_t> in_flight;
  std::uint64_t sum = 0;
  for (int step = 0; step < history_length(20'000); ++step) {
    const Instant now = epoch + 1ms * step;
    const std::uint64_t who = random() % 60;
    const Claim slot = holding(slots, who, 1);
    // Keys without holds press on the bound.
    ask(store, now, {claim(rate, random() % 5'000, 1, 1)});
    if (random() % 2 == 0 && in_flight[who] > 0) {
      settle_one(store, settlement_of(slot, 1, 0), now);
      --in_flight[who];
      --sum;
    } else {
      const bool fits = in_flight[who] < 3;
      REQUIRE(ask(store, now, {slot}).admitted == fits);
      in_flight[who] += fits ? 1 : 0;
      sum += fits ? 1 : 0;
    }
    REQUIRE(store.memory.holds() == sum);
  }
}

TEST_CASE("A policy that changes its algorithm drops the holds of its keys; they are lost") {
  MemoryStoreUnderTest store(100);
  const auto before = policy(rules::Algorithm::gcra, 5, 60s);
  const auto after = policy(rules::Algorithm::fixed_window, 5, 60s);
  const Claim three = holding(before, 1, 3);
  REQUIRE(ask(store, epoch, {three}).admitted);
  CHECK(left(store, claim(after, 1), epoch) == 5);
  CHECK(store.memory.holds() == 3);
  REQUIRE(ask(store, epoch, {claim(after, 1, 1)}).admitted);
  CHECK(store.memory.holds() == 0);
  settle_one(store, settlement_of(three, 3, 0), epoch);
  CHECK(store.memory.settlements_lost() == 0);
  settle_one(store, settlement_of(three, 3, 2), epoch);
  CHECK(store.memory.settlements_lost() == 1);
  CHECK(left(store, claim(after, 1), epoch) == 4);
}

TEST_CASE("A key that the end of a hold empties is protected from eviction, another is not") {
  const auto limit = policy(rules::Algorithm::gcra, 5, 60s);
  Shard shard(10);
  shard.advance_to(epoch);
  const auto charge = [&](std::int64_t actual) {
    REQUIRE(end_hold(shard, {.policy = &limit, .hash = 1, .held = 1, .actual = actual}));
    return shard.find(1)->denied;
  };
  CHECK_FALSE(charge(4));
  CHECK(charge(1));
  shard.advance_to(epoch + 12s);
  CHECK_FALSE(charge(0));
}

TEST_CASE("An unlimited override at the settlement charges nothing") {
  MemoryStoreUnderTest store(100);
  const auto limit = policy(rules::Algorithm::gcra, 5, 60s);
  const Claim three = holding(limit, 1, 3);
  REQUIRE(ask(store, epoch, {three}).admitted);
  store.put(three.identity, {.kind = Override::Kind::unlimited, .policy = "p", .policy_id = 0},
            epoch);
  settle_one(store, settlement_of(three, 3, 3), epoch);
  store.remove(three.identity, "p", epoch);
  CHECK(left(store, three, epoch) == 5);
  CHECK(store.memory.holds() == 0);
}

}  // namespace weir::store::test
