// Deciding with a real Redis, and without it.
#include "catch.hpp"
#include "unit/limiter/request_fixture.hpp"
#include "unit/redis/store_fixture.hpp"

namespace weir::limiter::test {
namespace {

using config::OnFailure;
using redis::StoreError;

struct Told final : redis::Receiver {
  void on_answer(StoreError its_error) override { error = its_error; }
  std::optional<StoreError> error;
};

config::Policy shared_policy(const char* name, std::int64_t count,
                             OnFailure on_failure = OnFailure::local) {
  config::Policy result = policy(name, gcra(count, 3'600s));
  result.local_rule = rules::compile(gcra(1, 3'600s)).value();
  result.on_failure = on_failure;
  return result;
}

/// One of several requests that are decided at the same time.
struct Coming {
  Verdict verdict;
  Inquiry inquiry;
  Told told;
};

/// A limiter over a Redis of its own. Time is the test's; the clock of Redis is its own.
struct SharedFixture : Fixture {
  SharedFixture() {
    config.redis = redis::test::StoreFixture::options_for(process);
    config.redis.breaker_failures = 2;
  }

  bool connect() {
    redis.emplace(config.redis);
    std::vector<std::string> names;
    for (const auto& configured : config.policies)
      names.push_back(configured.name);
    constexpr std::uint8_t all = 0x7f;
    redis->store.emplace(redis->io, config.redis, names, std::vector{all}, redis->counters, 1);
    limiter = std::make_unique<Limiter>(config, store, *redis->store, 1);
    return redis->start();
  }
  identity::Evidence evidence() const {
    return {.request = request,
            .client = client,
            .path_parameters = {},
            .client_settings = config.client_address};
  }
  /// Through to the verdict; it holds until the next.
  Verdict serve(Duration after = 0s) {
    const Verdict at_once = limiter->decide(route, evidence(), epoch + after);
    if (at_once.outcome != Outcome::undecided) return at_once;
    Told told;
    inquiry.emplace();
    limiter->ask(*inquiry, told, epoch + after);
    REQUIRE(redis->run_until([&] { return told.error.has_value(); }));
    return limiter->conclude(*inquiry, *told.error, route, evidence(), epoch + after);
  }
  /// Up to where it has to wait.
  void come(Coming& coming, Duration after) {
    coming.verdict = limiter->decide(route, evidence(), epoch + after);
    if (coming.verdict.outcome == Outcome::undecided) ask(coming, after);
  }
  void ask(Coming& coming, Duration after) {
    coming.told.error.reset();
    limiter->ask(coming.inquiry, coming.told, epoch + after);
  }
  bool await(const Coming& coming) {
    return redis->run_until([&] { return coming.told.error.has_value(); });
  }
  Outcome conclude(Coming& coming, Duration after) {
    coming.verdict =
        limiter->conclude(coming.inquiry, *coming.told.error, route, evidence(), epoch + after);
    return coming.verdict.outcome;
  }
  std::uint64_t questions() const { return redis->counters.questions.value(); }
  Breaker::State breaker() const { return limiter->sharing()->breaker.load(); }

  redis::test::RedisProcess process;
  std::optional<redis::test::StoreFixture> redis;
  std::optional<Inquiry> inquiry;
};

}  // namespace

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
      CHECK(fixture.serve().decider == Decider::local);
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
    CHECK(fixture.serve().outcome == Outcome::failed);
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
  fixture.limit(shared_policy("shared", 10), 0);
  REQUIRE(fixture.connect());
  fixture.process.pause();
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::closed);
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.breaker() == Breaker::State::open);
  CHECK(fixture.questions() == 2);
  // It has hung up, to find another server behind the name.
  CHECK_FALSE(fixture.redis->store->is_ready());
  CHECK(fixture.redis->errors(StoreError::timeout) == 2);
  CHECK(fixture.serve().decider == Decider::local);
  CHECK(fixture.questions() == 2);
  fixture.process.resume();
  REQUIRE(fixture.redis->run_until_ready());
  fixture.process.pause();
  CHECK(fixture.serve(1s).decider == Decider::local);
  CHECK(fixture.questions() == 3);
  CHECK(fixture.breaker() == Breaker::State::open);
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
  REQUIRE(fixture.limiter->decide(fixture.route, fixture.evidence(), later).outcome ==
          Outcome::undecided);
  Told told;
  Inquiry first;
  fixture.limiter->ask(first, told, later);
  CHECK(fixture.breaker() == Breaker::State::half_open);
  CHECK(fixture.serve(1s).decider == Decider::local);
  REQUIRE(fixture.redis->run_until([&] { return told.error.has_value(); }));
  CHECK(fixture.limiter->conclude(first, *told.error, fixture.route, fixture.evidence(), later)
            .decider == Decider::redis);
  CHECK(fixture.serve(1s).decider == Decider::redis);
}

}  // namespace weir::limiter::test
