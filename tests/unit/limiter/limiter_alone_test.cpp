// Deciding without the Redis that instances share.
#include "unit/limiter/shared_fixture.hpp"

namespace weir::limiter::test {

TEST_CASE("Without Redis each policy does what its on_failure says") {
  SharedFixture fixture;
  const auto lose_redis = [&] {
    REQUIRE(fixture.connect());
    fixture.process.stop();
    REQUIRE(fixture.redis->run_until([&] { return !fixture.redis->store->is_ready(); }));
  };
  SECTION("local: this instance's share, by the embedded store") {
    fixture.limit(shared_policy("shared", 10), 0);
    lose_redis();
    const Verdict first = fixture.serve();
    CHECK(first.outcome == Outcome::allowed);
    CHECK(first.decider == Decider::local);
    REQUIRE(first.limits.size() == 1);
    CHECK(first.limits[0].decision.limit == 1);
    CHECK(fixture.serve().outcome == Outcome::denied);
  }
  SECTION("allow: the policy does not limit, the others do") {
    fixture.limit(shared_policy("open", 10, OnFailure::allow), 0);
    lose_redis();
    for (int i = 0; i < 3; ++i) {
      const Verdict verdict = fixture.serve();
      CHECK(verdict.outcome == Outcome::allowed);
      CHECK(verdict.decider == Decider::local);
      CHECK(verdict.limits.empty());
    }
    CHECK(fixture.store.keys() == 0);
  }
  SECTION("allow beside local") {
    fixture.limit(shared_policy("open", 10, OnFailure::allow), 0);
    fixture.limit(shared_policy("shared", 10), 0);
    lose_redis();
    CHECK(fixture.serve().outcome == Outcome::allowed);
    const Verdict second = fixture.serve();
    CHECK(second.outcome == Outcome::denied);
    REQUIRE(second.limits.size() == 1);
    CHECK(second.deciding == &fixture.config.policies[1]);
    CHECK(fixture.counters(1).denied.value() == 1);
    CHECK(fixture.counters(0).denied.value() == 0);
  }
  SECTION("deny: the request fails, and nothing is charged") {
    fixture.limit(shared_policy("shared", 10), 0);
    fixture.limit(shared_policy("strict", 10, OnFailure::deny), 0);
    lose_redis();
    const Verdict verdict = fixture.serve();
    CHECK(verdict.outcome == Outcome::failed);
    CHECK(verdict.deciding == &fixture.config.policies[1]);
    CHECK(fixture.counters(1).error.value() == 1);
    CHECK(fixture.counters(0).error.value() == 0);
    CHECK(fixture.store.keys() == 0);
  }
  SECTION("a shadow policy denies nobody") {
    fixture.limit(shared_policy("strict", 10, OnFailure::deny), 0);
    fixture.config.policies[0].shadow = true;
    lose_redis();
    CHECK(fixture.serve().outcome == Outcome::allowed);
  }
  CHECK(fixture.limiter->sharing()->alone.value() > 0);
  CHECK(fixture.limiter->sharing()->not_connected.value() > 0);
}

TEST_CASE(
    "Requests that find no connection open the breaker; Redis decides again when it is back") {
  SharedFixture fixture;
  fixture.limit(shared_policy("shared", 10), 0);
  REQUIRE(fixture.connect());
  CHECK(fixture.serve().decider == Decider::redis);
  fixture.process.stop();
  REQUIRE(fixture.redis->run_until([&] { return !fixture.redis->store->is_ready(); }));
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::closed);
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::open);
  fixture.process.start();
  REQUIRE(fixture.redis->run_until_ready());
  CHECK(fixture.serve(999ms).decider == Decider::local);
  CHECK(fixture.serve(1s).decider == Decider::redis);
  CHECK(fixture.breaker() == Breaker::State::closed);
}

TEST_CASE("A Redis that is silent is left alone after some timeouts, but for one question") {
  SharedFixture fixture;
  fixture.config.redis.timeout = 20ms;
  fixture.config.redis.connect_timeout = 500ms;
  fixture.limit(shared_policy("shared", 10), 0);
  REQUIRE(fixture.connect());
  fixture.process.pause();
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::closed);
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::open);
  CHECK(fixture.questions() == 2);
  CHECK(fixture.redis->errors(StoreError::timeout) == 2);
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.questions() == 2);
  REQUIRE(fixture.redis->run_until([&] { return fixture.redis->store->is_silent(); }));
  REQUIRE(fixture.redis->store->is_ready());  // it might only have been slow
  CHECK(fixture.serve(1s).decider == Decider::local);
  CHECK(fixture.questions() == 3);
  CHECK(fixture.breaker() == Breaker::State::open);
  // It has hung up, to find another server behind the name.
  CHECK_FALSE(fixture.redis->store->is_ready());
  fixture.process.resume();
  REQUIRE(fixture.redis->run_until_ready());
  CHECK(fixture.serve(2s).decider == Decider::redis);
}

TEST_CASE("While one question finds out whether Redis is back, nobody else asks") {
  SharedFixture fixture;
  fixture.limit(shared_policy("shared", 10), 0);
  REQUIRE(fixture.connect());
  redis::test::RedisCli cli(fixture.process);
  cli({"config", "set", "maxmemory", "1"});
  for (int i = 0; i < 2; ++i)
    CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.redis->errors(StoreError::out_of_memory) == 2);
  CHECK(fixture.breaker() == Breaker::State::open);
  CHECK(fixture.redis->store->is_ready());
  cli({"config", "set", "maxmemory", "0"});
  const Instant later = epoch + 1s;
  REQUIRE(fixture.limiter->decide(fixture.routes(), later).outcome == Outcome::undecided);
  Told told;
  Inquiry first;
  fixture.limiter->ask(first, told, later);
  CHECK(fixture.breaker() == Breaker::State::half_open);
  CHECK(fixture.serve(1s).decider == Decider::local);
  REQUIRE(fixture.redis->run_until([&] { return told.error.has_value(); }));
  CHECK(fixture.limiter->conclude(first, *told.error, fixture.routes(), later).decider ==
        Decider::redis);
  CHECK(fixture.serve(1s).decider == Decider::redis);
}

}  // namespace weir::limiter::test
