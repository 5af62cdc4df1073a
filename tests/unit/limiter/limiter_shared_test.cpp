// A limiter whose store decides later, or not at all: the chain before a fake store.
#include <array>

#include "catch.hpp"
#include "store/chain.hpp"
#include "store/circuit_breaker.hpp"
#include "unit/limiter/request_fixture.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::limiter::test {
namespace {

limiter::Policy shared_policy(const char* name, std::int64_t count,
                              OnFailure on_failure = OnFailure::local) {
  limiter::Policy result = policy(name, gcra(count, 3'600s));
  result.on_failure = on_failure;
  return result;
}

struct SharedFixture : Fixture {
  /// This instance is one of ten.
  void connect() {
    chain.emplace(breaker, store, store::ChainOptions{.timeout = 5s, .seed = 1}, chain_counters);
    limiter = std::make_unique<Limiter>(config.limiter, chain->front(), store::Decider::redis);
    limiter->local_shares().divide(10);
  }
  /// Runs until the verdict, which is valid until the next call.
  Verdict serve(store::Error error = store::Error::none) {
    store::test::Received received;
    if (limiter->decide(evaluation, routes(), received, epoch)) return evaluation.verdict;
    remote.answer_all(epoch, error);
    REQUIRE(received.times == 1);
    return limiter->conclude(evaluation, *received.result);
  }
  Verdict fail() { return serve(store::Error::timeout); }

  store::test::FakeStore remote;
  store::BreakerCounters breaker_counters;
  store::CircuitBreaker breaker{
      remote, {.timeout = 5s, .failures = 100, .retry_after = 1s}, breaker_counters};
  store::ChainCounters chain_counters;
  std::optional<store::Chain> chain;
};

}  // namespace

TEST_CASE("The verdict of a store that instances share is explained as any other") {
  SharedFixture fixture;
  fixture.limit(shared_policy("wide", 10), 0);
  fixture.limit(shared_policy("narrow", 2), 0);
  fixture.connect();
  const Verdict first = fixture.serve();
  CHECK(first.outcome == Outcome::allowed);
  CHECK(first.decider == Decider::redis);
  REQUIRE(first.limits.size() == 2);
  CHECK(first.limits[0].decision.remaining == 9);
  CHECK(first.limits[1].decision.remaining == 1);
  CHECK(first.deciding == &fixture.config.limiter.policies[1]);
  CHECK(fixture.serve().outcome == Outcome::allowed);
  const Verdict third = fixture.serve();
  CHECK(third.outcome == Outcome::denied);
  CHECK(third.deciding == &fixture.config.limiter.policies[1]);
  REQUIRE(third.retry_after.has_value());
  CHECK(third.limits[0].decision.remaining == 8);
  CHECK(fixture.counters(1).denied.value() == 1);
  CHECK(fixture.counters(1).allowed.value() == 2);
  CHECK(fixture.store.keys() == 0);
}

TEST_CASE("A remembered denial is counted, and names all limits of the request") {
  SharedFixture fixture;
  fixture.limit(shared_policy("narrow", 1), 0);
  fixture.limit(shared_policy("per_key", 10), 1);
  fixture.connect();
  fixture.serve();
  REQUIRE(fixture.serve().outcome == Outcome::denied);
  fixture.header("x-api-key", "one");
  for (int i = 1; i <= 2; ++i) {
    const Verdict verdict = fixture.serve();
    CHECK(verdict.outcome == Outcome::denied);
    CHECK(verdict.decider == Decider::redis);
    REQUIRE(verdict.limits.size() == 2);
    CHECK(verdict.limits[0].policy == &fixture.config.limiter.policies[0]);
    CHECK(verdict.limits[1].policy == &fixture.config.limiter.policies[1]);
    CHECK(verdict.limits[1].decision.remaining == 10);
    CHECK(fixture.remote.questions == 2);  // once, for the limit that was not seen before
    CHECK(fixture.counters(0).denied.value() == static_cast<std::uint64_t>(1 + i));
    CHECK(fixture.counters(1).allowed.value() == static_cast<std::uint64_t>(i));
  }
}

TEST_CASE("Without the shared store each policy follows its on_failure") {
  SharedFixture fixture;
  SECTION("local: this instance's share") {
    fixture.limit(shared_policy("shared", 10), 0);
    fixture.connect();
    const Verdict first = fixture.fail();
    CHECK(first.outcome == Outcome::allowed);
    CHECK(first.decider == Decider::local);
    REQUIRE(first.limits.size() == 1);
    CHECK(first.limits[0].decision.limit == 1);
    CHECK(fixture.fail().outcome == Outcome::denied);
  }
  SECTION("allow: the policy does not limit") {
    fixture.limit(shared_policy("open", 10, OnFailure::allow), 0);
    fixture.connect();
    for (int i = 0; i < 3; ++i) {
      const Verdict verdict = fixture.fail();
      CHECK(verdict.outcome == Outcome::allowed);
      CHECK(verdict.decider == Decider::local);
      CHECK(verdict.limits.empty());
    }
    CHECK(fixture.store.keys() == 0);
  }
  SECTION("allow beside local") {
    fixture.limit(shared_policy("open", 10, OnFailure::allow), 0);
    fixture.limit(shared_policy("shared", 10), 0);
    fixture.connect();
    CHECK(fixture.fail().outcome == Outcome::allowed);
    const Verdict second = fixture.fail();
    CHECK(second.outcome == Outcome::denied);
    REQUIRE(second.limits.size() == 1);
    CHECK(second.deciding == &fixture.config.limiter.policies[1]);
    CHECK(fixture.counters(1).denied.value() == 1);
    CHECK(fixture.counters(0).denied.value() == 0);
  }
  SECTION("deny: the request fails, and nothing is charged") {
    fixture.limit(shared_policy("shared", 10), 0);
    fixture.limit(shared_policy("strict", 10, OnFailure::deny), 0);
    fixture.limit(shared_policy("stricter", 10, OnFailure::deny), 0);
    fixture.connect();
    const Verdict verdict = fixture.fail();
    CHECK(verdict.outcome == Outcome::failed);
    CHECK(verdict.decider == Decider::local);
    CHECK(verdict.limits.empty());
    CHECK(verdict.deciding == &fixture.config.limiter.policies[1]);
    CHECK(fixture.counters(2).error.value() == 1);
    CHECK(fixture.counters(1).error.value() == 1);
    CHECK(fixture.counters(0).error.value() == 0);
    CHECK(fixture.store.keys() == 0);
  }
  SECTION("a shadow policy denies no request") {
    fixture.limit(shared_policy("strict", 10, OnFailure::deny), 0);
    fixture.config.limiter.policies[0].shadow = true;
    fixture.connect();
    CHECK(fixture.fail().outcome == Outcome::allowed);
    CHECK(fixture.counters(0).error.value() == 0);
  }
  CHECK(fixture.chain->counters().alone.value() > 0);
}

TEST_CASE("A change of the number of instances keeps the use counted so far") {
  rules::Definition window = gcra(10, 3'600s);
  window.algorithm = rules::Algorithm::fixed_window;
  SharedFixture fixture;
  fixture.limit(policy("shared", window), 0);
  fixture.connect();
  fixture.limiter->local_shares().divide(2);
  for (int i = 1; i <= 3; ++i) {
    const Verdict verdict = fixture.fail();
    CHECK(verdict.outcome == Outcome::allowed);
    CHECK(verdict.limits[0].decision.limit == 5);
    CHECK(verdict.limits[0].decision.remaining == 5 - i);
    CHECK(verdict.limits[0].decision.refill == 3'600s);
  }
  fixture.limiter->local_shares().divide(3);
  const Verdict denied = fixture.fail();
  CHECK(denied.outcome == Outcome::denied);
  CHECK(denied.limits[0].decision.limit == 3);
  fixture.limiter->local_shares().divide(1);
  CHECK(fixture.fail().limits[0].decision.remaining == 6);
  fixture.limiter->local_shares().divide(11);
  const Verdict failed = fixture.fail();
  CHECK(failed.outcome == Outcome::failed);
  CHECK(failed.deciding == &fixture.config.limiter.policies[0]);
}

TEST_CASE("A hold of a share settles after the share is gone") {
  SharedFixture fixture;
  fixture.limit(policy("slots", {.algorithm = rules::Algorithm::concurrency, .limit = 10}), 0);
  fixture.connect();
  CHECK(fixture.fail().outcome == Outcome::allowed);
  const HeldUnits held = fixture.evaluation.held;
  REQUIRE(held.settlements.size() == 1);
  fixture.limiter->local_shares().divide(11);
  CHECK(fixture.fail().outcome == Outcome::failed);
  fixture.limiter->store().settle(held.settlements, epoch);
  fixture.limiter->local_shares().divide(10);
  CHECK(fixture.fail().outcome == Outcome::allowed);
  CHECK(fixture.fail().outcome == Outcome::denied);
}

TEST_CASE("A request without a claim is not decided by the store, but counted under it") {
  SharedFixture fixture;
  fixture.limit(shared_policy("per_key", 10), 1).required = true;
  fixture.connect();
  const Verdict verdict = fixture.serve();
  CHECK(verdict.outcome == Outcome::identity_required);
  CHECK(verdict.decider == Decider::redis);
  CHECK(verdict.route == 0U);
  CHECK(fixture.remote.questions == 0);
}

TEST_CASE("Requests that wait at the same time do not disturb each other") {
  SharedFixture fixture;
  fixture.limit(shared_policy("per_key", 10), 1).cost = 2;
  auto attributed = shared_policy("watched", 10);
  rules::Definition window = gcra(10, 3'600s);
  window.algorithm = rules::Algorithm::attributed_window;
  attributed.numbers = rules::compile(window).value();
  attributed.attributes = {{.kind = limiter::Attribute::Kind::client_address,
                            .text = {},
                            .name = {},
                            .source = {identity::FromClientAddress{}}}};
  fixture.limit(std::move(attributed), 0);
  fixture.connect();
  fixture.header("x-api-key", "");
  constexpr std::array keys{"a", "b", "c"};
  std::array<Evaluation, 3> evaluations;
  std::array<store::test::Received, 3> received;
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fixture.fields[0].value = keys[i];
    fixture.client = IpAddress::v4({192, 0, 2, static_cast<std::uint8_t>(i)});
    addresses.emplace_back(std::string_view(fixture.client.text()));
    REQUIRE_FALSE(fixture.limiter->decide(evaluations[i], fixture.routes(), received[i], epoch));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& claims = fixture.remote.pending[i].acquisition->claims;
    REQUIRE(claims.size() == 2);
    CHECK(claims[0].demand.cost == 2);
    REQUIRE(claims[1].attributes.size() == 1);
    CHECK(claims[1].attributes[0] == addresses[i]);
  }
  fixture.remote.answer_all(epoch);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Verdict verdict = fixture.limiter->conclude(evaluations[i], *received[i].result);
    CHECK(verdict.outcome == Outcome::allowed);
    REQUIRE(verdict.limits.size() == 2);
    CHECK(verdict.limits[0].decision.remaining == 8);
    CHECK(verdict.limits[0].cost == 2);
    CHECK(verdict.limits.data() == evaluations[i].limits.data());
  }
}

}  // namespace weir::limiter::test
