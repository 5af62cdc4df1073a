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

namespace {

/// Two workers that hold units of one key.
struct TwoWorkers {
  TwoWorkers() : first(process), second(process) {
    REQUIRE(first.start());
    REQUIRE(second.start());
  }
  const rules::Decision& hold(StoreFixture& worker, const rules::Policy& policy,
                              std::int64_t cost) {
    Asked& asked = worker.requests.emplace_back(policy, 1, cost);
    asked.claim.holds = true;
    asked.answers = &worker.answers;
    ++worker.asks;
    worker.send(asked);
    REQUIRE(worker.run_until_completed());
    REQUIRE(asked.error == store::Error::none);
    return asked.decision;
  }
  std::int64_t left(const rules::Policy& policy) { return hold(second, policy, 0).remaining; }
  void reset(StoreFixture& worker) {
    Asked asked(ten, 1, 0);
    worker.store->forget({.identity = Hash128{1, 1}}, asked, worker.clock.now());
    REQUIRE(worker.run_until([&] { return asked.times == 1; }));
    REQUIRE(asked.error == store::Error::none);
  }
  void settle(StoreFixture& worker, const rules::Policy& policy, std::int64_t held,
              std::int64_t actual) {
    const store::Settlement ended{
        .policy = &policy, .key = {.identity = Hash128{1, 1}}, .held = held, .actual = actual};
    worker.store->settle({&ended, 1}, worker.clock.now());
    worker.run_ready();
    REQUIRE(worker.run_until([&] { return worker.store->unanswered() == 0; }));
  }

  const rules::Policy ten =
      policy_of({.algorithm = Algorithm::fixed_window, .rates = {{.count = 10, .per = 3600s}}});
  const rules::Policy slots = policy_of({.algorithm = Algorithm::concurrency, .limit = 10});
  RedisProcess process;
  StoreFixture first;
  StoreFixture second;
};

}  // namespace

TEST_CASE("After a reset a request in progress is charged its actual cost, at every worker") {
  TwoWorkers workers;
  const auto which = GENERATE(0, 1);
  StoreFixture& resets = which == 0 ? workers.first : workers.second;
  CHECK(workers.hold(workers.first, workers.ten, 6).held == 6);
  CHECK(workers.left(workers.ten) == 4);
  workers.reset(resets);
  CHECK(workers.left(workers.ten) == 10);
  SECTION("that ends next") {
    workers.settle(workers.first, workers.ten, 6, 2);
    CHECK(workers.left(workers.ten) == 8);
  }
  SECTION("beside a later one") {
    CHECK(workers.hold(workers.first, workers.ten, 7).held == 7);
    CHECK(workers.left(workers.ten) == 3);
    // The units of the later one stay held.
    workers.settle(workers.first, workers.ten, 6, 2);
    CHECK(workers.left(workers.ten) == 1);
    workers.settle(workers.first, workers.ten, 7, 7);
    CHECK(workers.left(workers.ten) == 1);
  }
  CHECK(workers.first.counters.held.value() == 0);
  CHECK(workers.first.counters.settlements_lost.value() == 0);
}

TEST_CASE("After a reset slots in use are taken again with the next command of their worker") {
  TwoWorkers workers;
  const auto which = GENERATE(0, 1);
  StoreFixture& resets = which == 0 ? workers.first : workers.second;
  CHECK(workers.hold(workers.first, workers.slots, 6).held == 6);
  workers.reset(resets);
  CHECK(workers.left(workers.slots) == 10);
  CHECK(workers.hold(workers.first, workers.slots, 1).held == 1);
  CHECK(workers.left(workers.slots) == 3);
  workers.settle(workers.first, workers.slots, 6, 0);
  CHECK(workers.left(workers.slots) == 9);
  workers.settle(workers.first, workers.slots, 1, 0);
  CHECK(workers.left(workers.slots) == 10);
}

TEST_CASE("A question that is sent again after a reset takes units that its settlement releases") {
  TwoWorkers workers;
  CHECK(workers.hold(workers.first, workers.ten, 1).held == 1);
  RedisCli cli(workers.process);
  cli({"SCRIPT", "FLUSH"});
  StoreFixture& worker = workers.first;
  Asked& asked = worker.requests.emplace_back(workers.ten, 1, 3);
  asked.claim.holds = true;
  Asked reset(workers.ten, 1, 0);
  worker.send(asked);
  worker.store->forget({.identity = Hash128{1, 1}}, reset, worker.clock.now());
  REQUIRE(worker.run_until([&] { return asked.times == 1 && reset.times == 1; }));
  REQUIRE(asked.admitted);
  CHECK(workers.left(workers.ten) == 7);
  workers.settle(worker, workers.ten, 3, 1);
  workers.settle(worker, workers.ten, 1, 0);
  CHECK(workers.left(workers.ten) == 9);
  CHECK(worker.counters.held.value() == 0);
  CHECK(cli({"KEYS", "*:h"}).empty());
}

}  // namespace weir::redis::test
