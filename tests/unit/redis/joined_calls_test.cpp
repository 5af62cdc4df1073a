// The questions of one pass of the loop go to a real server in few calls.
#include "redis/joined_calls.hpp"

#include <map>

#include "catch.hpp"
#include "relay.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

namespace {

/// Calls of a command that have reached the server since the last look.
class Calls {
 public:
  explicit Calls(const RedisProcess& redis) : cli_(redis) { reset(); }
  void reset() { cli_({"CONFIG", "RESETSTAT"}); }
  int of(const std::string& command) {
    const std::string text = cli_({"INFO", "commandstats"});
    const std::string name = "cmdstat_" + command + ":calls=";
    const auto at = text.find(name);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + name.size());
  }

 private:
  RedisCli cli_;
};

/// A node that has loaded the script with which it joins.
class JoiningStore : public StoreFixture {
 public:
  explicit JoiningStore(const options::Redis& options) : StoreFixture(options) {}
  explicit JoiningStore(const RedisProcess& redis) : StoreFixture(redis) {}
  void prepare() {
    REQUIRE(start());
    ask_many(2);
    REQUIRE(run_until_completed());
    ask_many(2);
    REQUIRE(run_until_completed());
  }
  void ask_many(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      ask(i + 1);
  }
  /// Asks in a pass of the loop of its own.
  void ask_in_a_pass(std::size_t who, bool may_gather) {
    Asked& asked = requests.emplace_back(gcra, who, 1);
    asked.answers = &answers;
    ++asks;
    asked.acquisition.may_gather = may_gather;
    send(asked);
    run_ready();
  }
  void every_answer_is(store::Error error) {
    for (const Asked& asked : requests) {
      CHECK(asked.times == 1);
      CHECK(asked.error == error);
    }
  }
};

}  // namespace

TEST_CASE("questions of one pass go in one call, up to its bounds, and one alone as it is") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  struct Row {
    std::size_t questions;
    int calls;
  };
  for (const Row row : {Row{1, 1}, Row{2, 1}, Row{32, 1}, Row{33, 2}, Row{64, 2}, Row{200, 8}}) {
    CAPTURE(row.questions);
    Calls calls(redis);
    const auto counted = store.counters.calls.value();
    const auto joined = store.counters.joined_calls.value();
    store.ask_many(row.questions);
    CHECK(store.store->unanswered() == row.questions);
    REQUIRE(store.run_until_completed());
    CHECK(store.store->unanswered() == 0);
    CHECK(calls.of("evalsha") <= row.calls);
    CHECK(store.counters.calls.value() - counted ==
          static_cast<std::uint64_t>(calls.of("evalsha")));
    CHECK(store.counters.joined_calls.value() - joined ==
          static_cast<std::uint64_t>(row.questions / 32 + (row.questions % 32 > 1 ? 1 : 0)));
  }
  store.every_answer_is(store::Error::none);
}

TEST_CASE("questions that may gather wait for the next replies, until they fill a call") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  struct Row {
    std::size_t in_flight;
    std::size_t questions;  ///< in passes of the loop of their own
    bool may_gather;
    std::size_t sent;  ///< calls, before any reply
  };
  for (const Row row : {Row{1, 5, true, 1}, Row{1, 5, false, 6}, Row{0, 5, true, 1},
                        Row{1, 31, true, 1}, Row{1, 32, true, 2}, Row{1, 40, true, 2}}) {
    CAPTURE(row.in_flight, row.questions, row.may_gather);
    redis.pause();
    const auto before = store.counters.calls.value();
    for (std::size_t i = 0; i < row.in_flight; ++i)
      store.ask_in_a_pass(100 + i, false);
    for (std::size_t i = 0; i < row.questions; ++i)
      store.ask_in_a_pass(1 + i, row.may_gather);
    CHECK(store.counters.calls.value() - before == row.sent);
    CHECK(store.store->unanswered() == row.in_flight + row.questions);
    redis.resume();
    REQUIRE(store.run_until_completed());
    CHECK(store.store->unanswered() == 0);
  }
  store.every_answer_is(store::Error::none);
}

TEST_CASE("questions that gather are lost with their connection, and end in time without a reply") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 100ms;
  JoiningStore store(options);
  REQUIRE(store.start());
  REQUIRE(store.run_until_decided());
  store.requests.clear();
  redis.pause();
  const bool is_killed = GENERATE(false, true);
  store.ask_in_a_pass(1, false);
  store.ask_in_a_pass(2, true);
  if (is_killed) redis.stop();
  REQUIRE(store.run_until_completed());
  store.every_answer_is(is_killed ? store::Error::connection_lost : store::Error::timeout);
  if (!is_killed) redis.resume();
}

TEST_CASE("questions of two scripts go in two calls, and each gets its own decision") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  for (int i = 0; i < 2; ++i) {
    store.ask(store.few, 50, 0);
    store.ask(store.few, 51, 0);
    REQUIRE(store.run_until_completed());
  }
  Calls calls(redis);
  for (std::uint64_t who = 1; who <= 8; ++who) {
    store.ask(who);
    store.ask(store.few, 60, 1);
  }
  REQUIRE(store.run_until_completed());
  CHECK(calls.of("evalsha") == 2);
  std::size_t admitted = 0;
  for (const Asked& asked : store.requests)
    if (asked.claim.identity.low == 60 && asked.admitted) ++admitted;
  CHECK(admitted == 3);
}

TEST_CASE("a server that has lost its scripts decides joined questions all the same") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  RedisCli cli(redis);
  cli({"SCRIPT", "FLUSH"});
  store.ask_many(5);
  REQUIRE(store.run_until_completed());
  Calls calls(redis);
  store.ask_many(5);
  REQUIRE(store.run_until_completed());
  CHECK(calls.of("evalsha") == 1);
  store.every_answer_is(store::Error::none);
}

TEST_CASE("joined questions that time out are completed once, and their late reply is dropped") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 100ms;
  JoiningStore store(options);
  REQUIRE(store.start());
  store.ask_many(2);
  store.run_until_completed();
  REQUIRE(store.run_until_decided());
  store.requests.clear();
  redis.pause();
  const auto late = store.counters.late_answers.value();
  store.ask_many(10);
  REQUIRE(store.run_until_completed());
  store.every_answer_is(store::Error::timeout);
  CHECK(store.store->unanswered() == 10);
  redis.resume();
  CHECK(store.run_until([&] { return store.store->unanswered() == 0; }));
  CHECK(store.counters.late_answers.value() - late == 10);
  store.every_answer_is(store::Error::timeout);
}

TEST_CASE("questions that time out while the socket takes no bytes are not sent") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.unix_path = redis.unix_path();
  options.timeout = 200ms;
  JoiningStore store(options);
  REQUIRE(store.start());
  REQUIRE(store.run_until_decided());
  store.ask_many(2);
  REQUIRE(store.run_until_completed());
  redis.pause();
  for (int i = 0; i < 100; ++i) {
    store.ask_many(64);
    store.run_ready();
  }
  store.ask_many(10);
  REQUIRE(store.run_until_completed());
  const auto late = store.counters.late_answers.value();
  const std::size_t unanswered = store.store->unanswered();
  redis.resume();
  CHECK(store.run_until([&] { return store.store->unanswered() == 0; }));
  CHECK(store.counters.late_answers.value() - late + 10 <= unanswered);
}

TEST_CASE("the end of the connection fails joined questions, and those that wait") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  store.requests.clear();
  redis.pause();
  store.ask_many(10);
  store.run_ready();
  store.ask_many(3);
  store.store->leave("a test");
  REQUIRE(store.run_until_completed());
  store.every_answer_is(store::Error::connection_lost);
  CHECK(store.store->unanswered() == 0);
  redis.resume();
  REQUIRE(store.run_until_ready());
  CHECK(store.outcome() == store::Error::none);
}

TEST_CASE("a key is forgotten after the questions that were asked before") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  store.ask(store.few, 80, 3);
  struct Forgotten final : store::Completion {
    void complete(const store::Result& result, Instant) noexcept override { error = result.error; }
    std::optional<store::Error> error;
  } forgotten;
  CHECK_FALSE(
      store.store->forget({.identity = {80, 80}, .policy_id = 0}, forgotten, store.clock.now()));
  Asked& after = store.ask(store.few, 80, 3);
  REQUIRE(store.run_until_completed());
  CHECK(forgotten.error == store::Error::none);
  CHECK(after.admitted);
}

TEST_CASE("before a cluster the questions of several slots are decided one by one") {
  RedisProcess redis(
      {"--cluster-enabled", "yes", "--cluster-port", std::to_string(RedisProcess::free_port())});
  RedisCli cli(redis);
  cli({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
  auto options = StoreFixture::options_for(redis);
  JoiningStore store(options);
  REQUIRE(store.start());
  REQUIRE(store.run_until_decided());
  for (int i = 0; i < 4; ++i) {
    store.requests.clear();
    store.ask_many(10);
    REQUIRE(store.run_until_completed());
    store.every_answer_is(store::Error::none);
  }
  Calls calls(redis);
  store.ask_many(5);
  for (int i = 0; i < 5; ++i)
    store.ask(1);
  REQUIRE(store.run_until_completed());
  CHECK(calls.of("evalsha") == 5);
}

TEST_CASE("questions that a call leaves undecided are sent alone") {
  RedisProcess redis;
  JoiningStore store(redis);
  store.prepare();
  store.requests.clear();
  std::size_t stored = 0;
  for (std::uint64_t who = 1; who <= 32; ++who) {
    store.topology->overrides().put({who, who}, {.numbers = store.gcra}, store.clock.now(),
                                    [&](const store::OverrideReport&) { ++stored; });
    REQUIRE(store.run_until([&] { return stored == who; }));
  }
  Calls calls(redis);
  store.ask_many(32);
  REQUIRE(store.run_until_completed());
  // The work of 32 plain claims: each of these is 4.5.
  CHECK(calls.of("evalsha") == 1 + 32 - 8);
  store.every_answer_is(store::Error::none);
  for (const Asked& asked : store.requests) {
    CHECK(asked.admitted);
    CHECK(asked.decision.override_effect == rules::OverrideEffect::numbers);
    CHECK(asked.decision.remaining >= 997);
  }
  CHECK(store.store->unanswered() == 0);
}

TEST_CASE("a joined call that a cluster refuses ends each question once") {
  RedisProcess redis;
  JoiningStore store(redis);
  Relay relay(store.io, redis.port());
  auto options = StoreFixture::options_for(redis);
  options.port = relay.port();
  store.use(options);
  store.prepare();
  const auto ask_refused = [&](const std::string& refusal) {
    store.requests.clear();
    relay.forged = "-" + refusal + "\r\n";
    const int reads = relay.reads;
    store.ask_many(5);
    REQUIRE(store.run_until([&] { return relay.reads > reads; }));
    relay.forged.clear();
    REQUIRE(store.run_until_completed());
    CHECK(store.store->unanswered() == 0);
  };
  SECTION("for another server: nothing is sent again by the node") {
    for (const std::string refusal :
         {"MOVED 1 127.0.0.1:1", "ASK 1 127.0.0.1:1", "CLUSTERDOWN x"}) {
      CAPTURE(refusal);
      Calls calls(redis);
      ask_refused(refusal);
      for (const Asked& asked : store.requests) {
        CHECK(asked.times == 1);
        CHECK(asked.error != store::Error::none);
      }
      CHECK(calls.of("evalsha") == 0);
    }
    CHECK(store.outcome() == store::Error::none);
  }
  SECTION("for being joined: each is decided alone") {
    for (const std::string refusal : {"TRYAGAIN x", "CROSSSLOT x"}) {
      CAPTURE(refusal);
      Calls calls(redis);
      ask_refused(refusal);
      store.every_answer_is(store::Error::none);
      CHECK(calls.of("evalsha") == 5);
      // From now on those of one slot are joined.
      calls.reset();
      for (int i = 0; i < 5; ++i)
        store.ask(1);
      REQUIRE(store.run_until_completed());
      CHECK(calls.of("evalsha") == 1);
      store.use(options);
      store.prepare();
    }
  }
}

TEST_CASE("the reply to a joined call that has another shape fails each question once") {
  RedisProcess redis;
  JoiningStore store(redis);
  Relay relay(store.io, redis.port());
  auto options = StoreFixture::options_for(redis);
  options.port = relay.port();
  store.use(options);
  store.prepare();
  for (const std::string reply :
       {"*0\r\n", "*4\r\n+a\r\n+b\r\n+c\r\n+d\r\n", "+OK\r\n", ":1\r\n", "-ERR x\r\n",
        "-BUSY x\r\n", "-OOM x\r\n", "*5\r\n*0\r\n:1\r\n+x\r\n*-1\r\n-ERR x\r\n"}) {
    CAPTURE(reply);
    store.requests.clear();
    relay.forged = reply;
    const int reads = relay.reads;
    store.ask_many(5);
    REQUIRE(store.run_until([&] { return relay.reads > reads; }));
    relay.forged.clear();
    REQUIRE(store.run_until_completed());
    const bool has_nil = reply.find("*-1") != std::string::npos;
    for (const Asked& asked : store.requests) {
      CHECK(asked.times == 1);
      const bool is_sent_again = has_nil && &asked == &*std::next(store.requests.begin(), 3);
      CHECK((asked.error == store::Error::none) == is_sent_again);
    }
    CHECK(store.store->unanswered() == 0);
  }
  CHECK(store.outcome() == store::Error::none);
}
