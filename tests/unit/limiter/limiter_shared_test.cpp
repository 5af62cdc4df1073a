// Deciding with a real Redis.
#include "unit/limiter/shared_fixture.hpp"

namespace weir::limiter::test {

TEST_CASE("Redis decides, and its verdict is explained as any other") {
  SharedFixture fixture;
  fixture.limit(shared_policy("wide", 10), 0);
  fixture.limit(shared_policy("narrow", 2), 0);
  REQUIRE(fixture.connect());
  const Verdict first = fixture.serve();
  CHECK(first.outcome == Outcome::allowed);
  CHECK(first.decider == Decider::redis);
  REQUIRE(first.limits.size() == 2);
  CHECK(first.limits[0].decision.remaining == 9);
  CHECK(first.limits[1].decision.remaining == 1);
  CHECK(first.deciding == &fixture.config.policies[1]);
  CHECK(fixture.serve().outcome == Outcome::allowed);
  const Verdict third = fixture.serve();
  CHECK(third.outcome == Outcome::denied);
  CHECK(third.deciding == &fixture.config.policies[1]);
  REQUIRE(third.retry_after.has_value());
  CHECK(third.limits[0].decision.remaining == 8);
  CHECK(fixture.counters(1).denied.value() == 1);
  CHECK(fixture.counters(1).allowed.value() == 2);
  CHECK(fixture.store.keys() == 0);
}

TEST_CASE("Without a request it is found out whether Redis decides, and nobody is charged for it") {
  SharedFixture fixture;
  fixture.config.redis.breaker_retry_after = 10s;
  fixture.limit(shared_policy("shared", 10), 0);
  REQUIRE(fixture.connect());
  const auto& store = *fixture.redis->store;
  /// Asks, until the answer has been heard and made use of.
  const auto probe = [&](Duration after) {
    const auto answers = [&] {
      std::uint64_t errors = 0;
      for (const auto& of_kind : fixture.redis->counters.errors)
        errors += of_kind.value();
      return errors + (store.has_decided() ? 1 : 0);
    };
    const auto before = answers();
    fixture.limiter->probe(epoch + after);
    const bool answered = fixture.redis->run_until([&] { return answers() != before; }, 2s);
    fixture.limiter->probe(epoch + after);
    return answered;
  };
  redis::test::RedisCli cli(fixture.process);
  CHECK_FALSE(store.has_decided());
  REQUIRE(probe(0s));
  CHECK(store.has_decided());
  CHECK(fixture.questions() == 1);
  fixture.limiter->probe(epoch);
  CHECK(fixture.questions() == 1);
  CHECK(fixture.counters(0).allowed.value() == 0);
  std::string key = cli({"KEYS", "*"});
  key.resize(key.find('\n') == std::string::npos ? 0 : key.find('\n'));
  CHECK(cli({"PTTL", key}) != "-1");

  // A server that reads and does not write decides nothing.
  cli({"CONFIG", "SET", "min-replicas-to-write", "1"});
  CHECK(fixture.serve().decider == Decider::local);
  CHECK_FALSE(store.has_decided());
  REQUIRE(probe(0s));
  CHECK(fixture.breaker() == Breaker::State::open);
  cli({"CONFIG", "SET", "min-replicas-to-write", "0"});
  // As often as the breaker lets a request through, and no more.
  const auto asked = fixture.questions();
  fixture.limiter->probe(epoch + 9'999ms);
  CHECK(fixture.questions() == asked);
  REQUIRE(probe(10s));
  CHECK(fixture.breaker() == Breaker::State::closed);
  CHECK(store.has_decided());
  CHECK(fixture.serve(10s).limits[0].decision.remaining == 9);

  // A connection that has decided nothing yet is not trusted for what another one did.
  fixture.redis->store->reconnect();
  REQUIRE(fixture.redis->run_until([&] { return !store.is_ready(); }));
  REQUIRE(fixture.redis->run_until_ready());
  CHECK_FALSE(store.has_decided());
}

TEST_CASE("A flood of one key costs Redis next to nothing") {
  SharedFixture fixture;
  fixture.limit(shared_policy("wide", 10), 0);
  fixture.limit(shared_policy("narrow", 2), 0);
  REQUIRE(fixture.connect());
  // What leaves nothing tells of the denial to come.
  for (int i = 0; i < 3; ++i)
    fixture.serve();
  REQUIRE(fixture.questions() == 2);
  for (int i = 1; i <= 1'000; ++i) {
    const Verdict verdict = fixture.serve(Duration{i * 4'000});
    REQUIRE(verdict.outcome == Outcome::denied);
    REQUIRE(verdict.decider == Decider::redis);
    REQUIRE(verdict.deciding == &fixture.config.policies[1]);
    // As Redis had said, aged; also of the limit that did not deny.
    REQUIRE(verdict.limits.size() == 2);
    REQUIRE(verdict.limits[0].decision.remaining == 8);
    REQUIRE(verdict.retry_after <= Duration{1'800s} - Duration{i * 4'000});
  }
  CHECK(fixture.questions() == 2);
  CHECK(fixture.limiter->sharing()->remembered.value() == 1'001);
  CHECK(fixture.counters(1).denied.value() == 1'001);
  // Not for ever, and not after a reset.
  CHECK(fixture.serve(5s).outcome == Outcome::denied);
  CHECK(fixture.questions() == 3);
  fixture.limiter->forget(fixture.inquiry->limits[1].identity, 1);
  CHECK(fixture.serve(5s).outcome == Outcome::denied);
  CHECK(fixture.questions() == 4);
}

// The denial is believed for 5 s of the test's time, and renewed by Redis, for which no time
// passes.
TEST_CASE("Where a denial has ended one request asks, and the others wait for its answer") {
  SharedFixture fixture;
  fixture.config.redis.timeout = 20s;
  fixture.limit(shared_policy("narrow", 3), 0);
  REQUIRE(fixture.connect());
  for (int i = 0; i < 3; ++i)
    REQUIRE(fixture.serve().outcome == Outcome::allowed);
  REQUIRE(fixture.questions() == 3);
  Coming first;
  std::array<Coming, 3> others;
  const auto come = [&] {
    fixture.come(first, 5s);
    for (auto& other : others)
      fixture.come(other, 5s);
    REQUIRE(fixture.questions() == 4);
    REQUIRE(fixture.await(first));
    for (auto& other : others)
      REQUIRE_FALSE(other.told.error.has_value());
  };
  SECTION("another denial holds for all") {
    come();
    CHECK(fixture.conclude(first, 5s) == Outcome::denied);
    for (auto& other : others) {
      REQUIRE(other.told.error.has_value());
      CHECK(fixture.conclude(other, 5s) == Outcome::denied);
      CHECK(other.verdict.decider == Decider::redis);
    }
    CHECK(fixture.questions() == 4);
  }
  SECTION("where something is left, all ask at once") {
    redis::test::RedisCli cli(fixture.process);
    cli({"flushall"});
    come();
    CHECK(fixture.conclude(first, 5s) == Outcome::allowed);
    for (auto& other : others) {
      REQUIRE(fixture.conclude(other, 5s) == Outcome::undecided);
      fixture.ask(other, 5s);
    }
    CHECK(fixture.questions() == 7);
    for (auto& other : others)
      REQUIRE(fixture.await(other));
    CHECK(fixture.conclude(others[0], 5s) == Outcome::allowed);
    CHECK(fixture.conclude(others[1], 5s) == Outcome::allowed);
    CHECK(fixture.conclude(others[2], 5s) == Outcome::denied);
  }
  SECTION("an answer that is past already is asked for again by one, for those who came after it") {
    come();
    CHECK(fixture.conclude(first, 10s) == Outcome::denied);
    REQUIRE(fixture.conclude(others[0], 10s) == Outcome::undecided);
    fixture.ask(others[0], 10s);
    REQUIRE(fixture.conclude(others[1], 10s) == Outcome::undecided);
    fixture.ask(others[1], 10s);
    CHECK(fixture.questions() == 5);
    CHECK(others[0].inquiry.question.waited == 5s);
    REQUIRE(fixture.await(others[0]));
    CHECK(fixture.conclude(others[0], 10s) == Outcome::denied);
    REQUIRE(others[1].told.error.has_value());
    CHECK(fixture.conclude(others[1], 10s) == Outcome::denied);
    CHECK(fixture.conclude(others[2], 10s) == Outcome::denied);
  }
  SECTION("nobody waits for one who came later and may take longer") {
    come();
    CHECK(fixture.conclude(first, 10s) == Outcome::denied);
    Coming later;
    fixture.come(later, 11s);
    CHECK(fixture.questions() == 5);
    REQUIRE(fixture.conclude(others[0], 12s) == Outcome::undecided);
    fixture.ask(others[0], 12s);
    CHECK(fixture.questions() == 6);
    CHECK_FALSE(others[0].inquiry.waits);
    REQUIRE(fixture.await(others[0]));
  }
  SECTION("who has waited for all of its time decides alone") {
    come();
    CHECK(fixture.conclude(first, 24'999ms) == Outcome::denied);
    REQUIRE(fixture.conclude(others[0], 24'999ms) == Outcome::undecided);
    fixture.conclude(others[1], 25s);
    CHECK(others[1].verdict.decider == Decider::local);
  }
  SECTION("a store that stops leaves nobody waiting") {
    fixture.come(first, 5s);
    for (auto& other : others)
      fixture.come(other, 5s);
    fixture.redis->store->stop();
    REQUIRE(fixture.await(first));
    fixture.conclude(first, 5s);
    CHECK(first.verdict.decider == Decider::local);
    for (auto& other : others) {
      REQUIRE(other.told.error.has_value());
      fixture.conclude(other, 5s);
      CHECK(other.verdict.decider == Decider::local);
    }
  }
}

TEST_CASE("Who waits for a Redis that is silent is decided within its own time") {
  SharedFixture fixture;
  fixture.config.redis.timeout = 50ms;
  fixture.config.redis.breaker_failures = 3;
  fixture.limit(shared_policy("narrow", 1), 0);
  REQUIRE(fixture.connect());
  REQUIRE(fixture.serve().outcome == Outcome::allowed);
  fixture.process.pause();
  Coming first;
  Coming second;
  Coming third;
  fixture.come(first, 5s);
  fixture.come(second, 5s + 20ms);
  fixture.come(third, 5s + 20ms);
  CHECK(fixture.questions() == 2);
  REQUIRE(fixture.await(first));
  CHECK_FALSE(second.told.error.has_value());
  fixture.conclude(first, 5s + 50ms);
  CHECK(first.verdict.decider == Decider::local);
  REQUIRE(second.told.error.has_value());
  REQUIRE(fixture.conclude(second, 5s + 50ms) == Outcome::undecided);
  fixture.ask(second, 5s + 50ms);
  CHECK(second.inquiry.question.waited == 30ms);
  CHECK(fixture.questions() == 3);
  SECTION("one after the other") {
    REQUIRE(fixture.await(second));
    fixture.conclude(second, 5s + 70ms);
    CHECK(second.verdict.decider == Decider::local);
    REQUIRE(third.told.error.has_value());
    fixture.conclude(third, 5s + 70ms);
    CHECK(third.verdict.decider == Decider::local);
    CHECK(fixture.questions() == 3);
  }
  SECTION("nobody waits once the breaker is open") {
    fixture.client = identity::IpAddress::v4({192, 0, 2, 2});
    for (int i = 0; i < 2; ++i)
      CHECK(fixture.serve(5s + 50ms).decider == Decider::local);
    REQUIRE(fixture.breaker() == Breaker::State::open);
    fixture.client = identity::IpAddress::v4({192, 0, 2, 1});
    fixture.conclude(third, 5s + 50ms);
    CHECK(third.verdict.decider == Decider::local);
    REQUIRE(fixture.await(second));
    fixture.conclude(second, 5s + 70ms);
  }
}

TEST_CASE("Requests of a key that was not denied lately do not wait for each other") {
  SharedFixture fixture;
  fixture.limit(shared_policy("wide", 10), 0);
  REQUIRE(fixture.connect());
  std::array<Coming, 3> all;
  for (auto& coming : all)
    fixture.come(coming, 0s);
  CHECK(fixture.questions() == 3);
  for (auto& coming : all) {
    REQUIRE(fixture.await(coming));
    CHECK(fixture.conclude(coming, 0s) == Outcome::allowed);
  }
}

TEST_CASE("A key that is denied denies with every other limit, another client is asked for") {
  SharedFixture fixture;
  fixture.limit(shared_policy("narrow", 1), 0);
  fixture.limit(shared_policy("per_key", 10), 1);
  REQUIRE(fixture.connect());
  fixture.serve();
  REQUIRE(fixture.serve().outcome == Outcome::denied);
  REQUIRE(fixture.questions() == 1);
  fixture.header("x-api-key", "one");
  const Verdict verdict = fixture.serve();
  CHECK(verdict.outcome == Outcome::denied);
  CHECK(verdict.limits.size() == 1);  // nothing is known of the other
  CHECK(fixture.questions() == 1);
  fixture.client = identity::IpAddress::v4({192, 0, 2, 2});
  CHECK(fixture.serve().outcome == Outcome::allowed);
  CHECK(fixture.questions() == 2);
}

TEST_CASE("What a denial does not settle is asked each time") {
  SharedFixture fixture;
  rules::Definition counted = gcra(1, 3'600s);
  counted.algorithm = rules::Algorithm::fixed_window;
  SECTION("a policy counts rejected requests") {
    counted.count_rejected = true;
    fixture.limit(policy("counted", counted), 0);
  }
  SECTION("another policy of the request does") {
    fixture.limit(shared_policy("plain", 1), 0);
    counted.rates[0].count = 100;
    counted.count_rejected = true;
    fixture.limit(policy("counted", counted), 0);
  }
  SECTION("only a shadow policy denies") {
    fixture.limit(shared_policy("shadow", 1), 0);
    fixture.config.policies[0].shadow = true;
  }
  SECTION("two limits share a key") {
    fixture.limit(shared_policy("twice", 1), 0);
    fixture.route.limits.push_back(fixture.route.limits[0]);
  }
  SECTION("an overdraft is allowed") {
    fixture.limit(shared_policy("plain", 1), 0);
    fixture.limit(shared_policy("overdrawn", 1), 0).overdraft = true;
  }
  REQUIRE(fixture.connect());
  for (int i = 0; i < 5; ++i)
    fixture.serve();
  CHECK(fixture.questions() == 5);
  CHECK(fixture.limiter->sharing()->remembered.value() == 0);
}

}  // namespace weir::limiter::test
