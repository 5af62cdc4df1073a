// The chain of a worker before a real Redis: absent, silent, refusing and back. The links by
// themselves are tested in tests/unit/store; these tests depend on the behaviour of the Redis
// store.
#include "store/chain.hpp"

#include <list>
#include <optional>

#include "catch.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using store::Decider;
using store::NodeControl;

namespace {

/// Requests come at instants of the test's, answers at those of the store's clock: a breaker that
/// is to be open at the next instant is asked before its time, one that is to let through long
/// after.
struct ChainFixture {
  ChainFixture() : ChainFixture(5s, 5s) {}
  ChainFixture(Duration timeout, Duration connect_timeout) {
    options.timeout = timeout;
    options.connect_timeout = connect_timeout;
    redis.emplace(options);
    redis->topology->store().set_breaker(2, breaker_retry_after);
    chain.emplace(redis->topology->store(), local,
                  store::ChainOptions{.timeout = timeout, .seed = 1}, counters);
  }
  ~ChainFixture() {
    process.resume();
    redis->topology->stop();
  }

  /// Sends a request for `who` to the chain.
  struct Request final : store::Completion {
    Request(const rules::Policy& shared_policy, const rules::Policy& local_policy,
            std::uint64_t who) {
      claim.policy = &shared_policy;
      claim.local_policy = &local_policy;
      claim.identity = Hash128{who, who};
      acquisition = {.claims = {&claim, 1}, .decisions = {&decision, 1}};
    }
    void complete(const store::Result& its_result, Instant) noexcept override {
      result = its_result;
      if (then) then();
    }
    std::function<void()> then;
    store::Claim claim;
    rules::Decision decision;
    store::Acquisition acquisition;
    std::optional<store::Result> result;
  };
  void come(Request& request, Duration after) { come(request, after, after); }
  void come(Request& request, Duration after, Duration arrived_after) {
    request.acquisition.arrived_at = epoch + arrived_after;
    request.result = chain->front().acquire(request.acquisition, request, epoch + after);
  }
  Decider serve(Duration after = 0s) {
    Request request(ten, one, 1);
    come(request, after);
    REQUIRE(redis->run_until([&] { return request.result.has_value(); }));
    last = request.decision;
    return request.result->decider;
  }
  bool run_until_lost() {
    return redis->run_until([&] { return !redis->store->is_ready(); });
  }
  std::uint64_t questions() const { return redis->counters.questions.value(); }
  NodeControl::State breaker() { return redis->topology->store().state(); }

  static constexpr Duration breaker_retry_after = 1s;
  static constexpr Duration later = 1h;  ///< the breaker lets one question through
  const Instant epoch = MonotonicClock().now();
  RedisProcess process;
  options::Redis options = StoreFixture::options_for(process);
  rules::Policy ten = policy_of({.rates = {{.count = 10, .per = 3600s}}});
  rules::Policy one = policy_of({.rates = {{.count = 1, .per = 3600s}}});
  store::MemoryStore local{{.max_keys = 1'000, .seed = 3}};
  std::optional<StoreFixture> redis;
  store::ChainCounters counters;
  std::optional<store::Chain> chain;
  rules::Decision last;
};

}  // namespace

TEST_CASE(
    "a request that finds no connection opens the breaker; Redis decides at once when it is back") {
  ChainFixture fixture;
  REQUIRE(fixture.redis->start());
  CHECK(fixture.serve() == Decider::redis);
  fixture.process.stop();
  REQUIRE(fixture.run_until_lost());
  CHECK(fixture.serve() == Decider::local);
  CHECK(fixture.breaker() == NodeControl::State::open);
  fixture.process.start();
  REQUIRE(fixture.redis->run_until_ready());
  CHECK(fixture.serve() == Decider::redis);
  CHECK(fixture.breaker() == NodeControl::State::closed);
}

TEST_CASE("a silent Redis gets one question at a time") {
  ChainFixture fixture(100ms, 500ms);
  REQUIRE(fixture.redis->start());
  fixture.process.pause();
  CHECK(fixture.serve() == Decider::local);
  CHECK(fixture.breaker() == NodeControl::State::open);
  CHECK(fixture.questions() == 1);
  CHECK(fixture.redis->errors(store::Error::timeout) == 1);
  CHECK(fixture.serve() == Decider::local);
  CHECK(fixture.questions() == 1);
  REQUIRE(fixture.redis->run_until([&] { return fixture.redis->store->is_silent(); }));
  REQUIRE(fixture.redis->store->is_ready());  // it might only have been slow
  CHECK(fixture.serve(ChainFixture::later) == Decider::local);
  CHECK(fixture.questions() == 2);
  CHECK(fixture.breaker() == NodeControl::State::open);
  // It has hung up, to find another server behind the name.
  CHECK_FALSE(fixture.redis->store->is_ready());
  fixture.process.resume();
  REQUIRE(fixture.redis->run_until_ready());
  CHECK(fixture.serve(2 * ChainFixture::later) == Decider::redis);
}

TEST_CASE("a late reply of a silent Redis closes the breaker") {
  ChainFixture fixture(100ms, 5s);
  REQUIRE(fixture.redis->start());
  fixture.process.pause();
  CHECK(fixture.serve() == Decider::local);
  CHECK(fixture.breaker() == NodeControl::State::open);
  CHECK(fixture.redis->store->unanswered() == 1);
  fixture.process.resume();
  REQUIRE(fixture.redis->run_until([&] { return fixture.redis->store->unanswered() == 0; }));
  CHECK(fixture.serve() == Decider::redis);
  CHECK(fixture.redis->counters.late_answers.value() == 1);
  CHECK(fixture.questions() == 2);
}

TEST_CASE("questions that time out together all do, though the first closes the connection") {
  ChainFixture fixture(5s, 500ms);
  REQUIRE(fixture.redis->start());
  fixture.process.pause();
  REQUIRE(fixture.redis->run_until([&] { return fixture.redis->store->is_silent(); }));
  // They have spent nearly all of their time elsewhere.
  std::list<ChainFixture::Request> requests;
  for (std::uint64_t who = 1; who <= 5; ++who)
    fixture.come(requests.emplace_back(fixture.ten, fixture.one, who), 5s - 1us, 0s);
  requests.front().then = [&] { fixture.redis->store->reconnect(); };
  REQUIRE(fixture.redis->run_until([&] { return requests.back().result.has_value(); }));
  for (const auto& request : requests)
    CHECK(request.result->decider == Decider::local);
  CHECK_FALSE(fixture.redis->store->is_ready());
  CHECK(fixture.redis->errors(store::Error::timeout) == 5);
  CHECK(fixture.redis->errors(store::Error::connection_lost) == 0);
}

TEST_CASE("while one question tests whether Redis is back, no other is sent") {
  ChainFixture fixture;
  REQUIRE(fixture.redis->start());
  RedisCli cli(fixture.process);
  cli({"config", "set", "maxmemory", "1"});
  for (const Duration after : {0min, 1min})
    CHECK(fixture.serve(after) == Decider::local);
  CHECK(fixture.redis->errors(store::Error::out_of_memory) == 2);
  CHECK(fixture.breaker() == NodeControl::State::open);
  CHECK(fixture.redis->store->is_ready());
  cli({"config", "set", "maxmemory", "0"});
  ChainFixture::Request first(fixture.ten, fixture.one, 1);
  fixture.come(first, ChainFixture::later);
  CHECK(fixture.breaker() == NodeControl::State::half_open);
  CHECK(fixture.serve(ChainFixture::later) == Decider::local);
  REQUIRE(fixture.redis->run_until([&] { return first.result.has_value(); }));
  CHECK(first.result->decider == Decider::redis);
  CHECK(fixture.serve(ChainFixture::later) == Decider::redis);
}

TEST_CASE("a probe tests whether Redis decides, and charges no client") {
  ChainFixture fixture;
  REQUIRE(fixture.redis->start());
  const auto& store = *fixture.redis->store;
  /// Asks, until the answer has arrived.
  const auto probe = [&](Duration after) {
    const auto answers = [&] {
      std::uint64_t errors = 0;
      for (const auto& of_kind : fixture.redis->counters.errors)
        errors += of_kind.value();
      return errors + (store.has_decided() ? 1 : 0);
    };
    const auto before = answers();
    fixture.chain->probe(fixture.epoch + after);
    return fixture.redis->run_until([&] { return answers() != before; }, 5s);
  };
  RedisCli cli(fixture.process);
  CHECK_FALSE(store.has_decided());
  REQUIRE(probe(0s));
  CHECK(store.has_decided());
  CHECK(fixture.questions() == 1);
  fixture.chain->probe(fixture.epoch);
  CHECK(fixture.questions() == 1);
  std::string key = cli({"KEYS", "*"});
  key.resize(key.find('\n') == std::string::npos ? 0 : key.find('\n'));
  CHECK(cli({"PTTL", key}) != "-1");

  // A server that reads and does not write decides nothing.
  cli({"CONFIG", "SET", "min-replicas-to-write", "1"});
  CHECK(fixture.serve() == Decider::local);
  CHECK_FALSE(store.has_decided());
  REQUIRE(probe(1min));
  CHECK(fixture.breaker() == NodeControl::State::open);
  cli({"CONFIG", "SET", "min-replicas-to-write", "0"});
  // As often as the breaker lets a request through, and no more.
  const auto asked = fixture.questions();
  fixture.chain->probe(fixture.epoch + 999ms);
  CHECK(fixture.questions() == asked);
  REQUIRE(probe(ChainFixture::later));
  CHECK(fixture.breaker() == NodeControl::State::closed);
  CHECK(store.has_decided());
  CHECK(fixture.serve(ChainFixture::later) == Decider::redis);
  CHECK(fixture.last.remaining == 9);

  // A connection that has decided nothing yet is not trusted for what another one did.
  fixture.redis->store->reconnect();
  REQUIRE(fixture.run_until_lost());
  REQUIRE(fixture.redis->run_until_ready());
  CHECK_FALSE(store.has_decided());
}

TEST_CASE("a settlement of Redis is sent, and kept while there is no connection") {
  ChainFixture fixture;
  const store::Settlement settlement{.policy = &fixture.ten, .key = {}, .held = 1, .actual = 4};
  fixture.chain->front().settle({&settlement, 1}, fixture.epoch);
  REQUIRE(fixture.redis->start());
  RedisCli cli(fixture.process);
  REQUIRE(fixture.redis->run_until([&] { return cli({"DBSIZE"}) == "1"; }));
  CHECK(fixture.redis->counters.settlements_lost.value() == 0);
}
