#include "catch.hpp"
#include "contract/hold_contract.hpp"
#include "unit/redis/redis_under_test.hpp"
#include "unit/redis/store_fixture.hpp"

namespace weir::redis::test {

using namespace store::test;
using rules::Algorithm;

namespace {

/// All claims are decided beside holds.
class RedisWithHolds : public RedisUnderTest {
 public:
  RedisWithHolds() : RedisUnderTest({}, {}, true) {}
};

}  // namespace

TEST_CASE("The Redis store keeps the contract of stores with holds") {
  for (const auto& one : hold_contract) {
    DYNAMIC_SECTION(one.name) {
      RedisWithHolds store;
      one.run(store);
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("The script that reads holds keeps the contract of stores") {
  for (const auto& one : store_contract) {
    DYNAMIC_SECTION(one.name) {
      RedisWithHolds store;
      one.run(store);
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("The Redis store holds and settles random requests as the model does") {
  for (const auto algorithm : holding_algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      RedisWithHolds store;
      HoldWalk(store, policies_of(algorithm), {.seed = 31, .steps = walk_steps / 4}).run();
      CHECK(store.counters().held.value() == 0);
      CHECK(store.counters().settlements_lost.value() == 0);
      store.every_key_outlives_its_recovery();
    }
  }
}

TEST_CASE("Overrides decide holds in Redis as in the model") {
  for (const auto algorithm : holding_algorithms) {
    DYNAMIC_SECTION(to_string(algorithm)) {
      RedisWithHolds store;
      HoldWalk(store, policies_of(algorithm),
               {.seed = 37, .identities = 5, .steps = walk_steps / 8, .overrides_change = true})
          .run();
    }
  }
}

TEST_CASE("Several algorithms hold in one request") {
  std::vector<rules::Policy> policies;
  for (const auto algorithm : holding_algorithms) {
    for (auto& limit : policies_of(algorithm))
      policies.push_back(std::move(limit));
  }
  RedisWithHolds store;
  HoldWalk(store, policies, {.seed = 41, .identities = 30, .steps = walk_steps / 4}).run();
}

namespace {

struct HoldFixture {
  explicit HoldFixture(Duration timeout = 5s) {
    options::Redis options = StoreFixture::options_for(process);
    options.timeout = timeout;
    store.emplace(options);
  }
  Asked& hold() {
    Asked& asked = store->requests.emplace_back(slots, 1, 1);
    asked.claim.holds = true;
    asked.answers = &store->answers;
    ++store->asks;
    store->send(asked);
    return asked;
  }
  void settle() {
    const store::Settlement ended{
        .policy = &slots, .key = {.identity = Hash128{1, 1}}, .held = 1, .actual = 0};
    store->store->settle({&ended, 1}, store->clock.now());
  }
  bool run_until_free() {
    RedisCli cli(process);
    return store->run_until([&] { return cli({"KEYS", "*:h"}).empty(); });
  }

  RedisProcess process;
  const rules::Policy slots = policy_of({.algorithm = Algorithm::concurrency, .limit = 2});
  std::optional<StoreFixture> store;
};

}  // namespace

TEST_CASE("A late answer that has taken a slot releases it at once") {
  HoldFixture fixture(50ms);
  REQUIRE(fixture.store->start());
  fixture.process.pause();
  Asked& asked = fixture.hold();
  REQUIRE(fixture.store->run_until_completed());
  CHECK(asked.error == store::Error::timeout);
  fixture.process.resume();
  REQUIRE(
      fixture.store->run_until([&] { return fixture.store->counters.late_answers.value() == 1; }));
  CHECK(fixture.run_until_free());
  CHECK(fixture.store->counters.held.value() == 0);
}

TEST_CASE("A slot that a lost question may have taken is released on the next connection") {
  HoldFixture fixture(50ms);
  REQUIRE(fixture.store->start());
  fixture.process.pause();
  fixture.hold();
  REQUIRE(fixture.store->run_until_completed());
  fixture.store->store->reconnect();
  fixture.process.resume();
  REQUIRE(fixture.store->run_until_ready());
  CHECK(fixture.run_until_free());
}

TEST_CASE("A slot that is settled without a connection is released when there is one again") {
  HoldFixture fixture;
  REQUIRE(fixture.store->start());
  Asked& asked = fixture.hold();
  REQUIRE(fixture.store->run_until_completed());
  REQUIRE(asked.admitted);
  CHECK(asked.decision.held == 1);
  CHECK(fixture.store->counters.held.value() == 1);
  fixture.store->store->reconnect();
  REQUIRE(fixture.store->run_until([&] { return !fixture.store->store->is_ready(); }));
  fixture.settle();
  REQUIRE(fixture.store->run_until_ready());
  CHECK(fixture.run_until_free());
  CHECK(fixture.store->counters.settlements_lost.value() == 0);
}

}  // namespace weir::redis::test
