// A Store whose server is absent, slow, forgetful, cut off or not a Redis at all.
#include <algorithm>

#include "catch.hpp"
#include "redis/reply_bounds.hpp"
#include "relay.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

/// A store that reaches its server through a relay.
struct Relayed {
  explicit Relayed(options::Redis options) : fixture(options), relay(fixture.io, options.port) {
    options.port = relay.port();
    fixture.use(options);
  }
  explicit Relayed(const RedisProcess& redis) : Relayed(StoreFixture::options_for(redis)) {}
  StoreFixture fixture;
  Relay relay;
};

}  // namespace

TEST_CASE("while there is no server every question fails at once; then decisions come again") {
  RedisProcess redis;
  redis.stop();
  StoreFixture fixture(redis);
  CHECK(fixture.outcome() == store::Error::not_connected);  // not started yet
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
  auto& asked = fixture.ask();
  CHECK(asked.times == 0);
  REQUIRE(fixture.run_until_completed());
  CHECK(asked.error == store::Error::not_connected);
  CHECK_THAT(std::string(fixture.store->last_error()),
             EndsWith("Connection refused; check that Redis is running at this address"));
  CHECK(fixture.counters.questions.value() == 0);
  redis.start();
  CHECK(fixture.run_until_ready());
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a server that is killed loses what was asked, and is found again") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  redis.pause();
  auto& lost = fixture.ask();
  fixture.run_ready();
  redis.stop();
  REQUIRE(fixture.run_until_completed());
  CHECK(lost.error == store::Error::connection_lost);
  CHECK_FALSE(fixture.store->is_ready());
  CHECK_FALSE(fixture.store->last_error().empty());
  redis.start();
  REQUIRE(fixture.run_until_ready());
  CHECK(fixture.store->last_error().empty());
  CHECK(fixture.outcome() == store::Error::none);
  CHECK(fixture.counters.connects.value() == 2);
  CHECK(RedisCli(redis)({"DBSIZE"}) == "1");
  CHECK(lost.times == 1);
}

TEST_CASE("a server that stops answering costs the timeout and no more; late answers are dropped") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 20ms;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  redis.pause();
  auto longest_wait = SteadyClock::duration::max();
  // A busy machine may be late by itself, but not every time.
  std::uint64_t asked = 0;
  for (int round = 0; round < 50 && (round < 5 || longest_wait > 25ms); ++round) {
    asked += 2;
    Asked& first = fixture.ask();
    Asked& second = fixture.ask();
    REQUIRE(fixture.run_until_completed());
    CHECK(first.error == store::Error::timeout);
    CHECK(second.error == store::Error::timeout);
    CHECK(first.waited >= 20ms);
    longest_wait = std::min(longest_wait, std::max(first.waited, second.waited));
  }
  CHECK(longest_wait <= 25ms);
  CHECK(fixture.store->is_ready());  // the breaker decides whether to use it
  redis.resume();
  REQUIRE(fixture.run_until([&] { return fixture.counters.late_answers.value() == asked; }));
  CHECK(fixture.errors(store::Error::timeout) == asked);
  CHECK(fixture.run_until_decided());
  CHECK(fixture.counters.connects.value() == 1);
  for (const auto& request : fixture.requests)
    CHECK(request.times == 1);
}

TEST_CASE("different deadlines of questions are each kept") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 100ms;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  REQUIRE(fixture.run_until_decided());  // leaves the timer armed for nothing
  redis.pause();
  // Some have more of their time left than those asked before them, some less.
  struct Limited {
    Limited(const rules::Policy& policy, Duration its_left) : asked(policy, 1, 1), left(its_left) {}
    Asked asked;
    Duration left;
    SteadyClock::time_point sent_by;
  };
  std::list<Limited> requests;
  for (const Duration left : {100ms, 70ms, 40ms, 90ms, 60ms, 30ms, 80ms, 50ms}) {
    Limited& one = requests.emplace_back(fixture.gcra, left);
    fixture.send(one.asked, 100ms - left);
    one.sent_by = SteadyClock::now();
  }
  REQUIRE(fixture.run_until([&] {
    return std::all_of(requests.begin(), requests.end(),
                       [](auto& one) { return one.asked.times > 0; });
  }));
  for (const auto& [asked, left, sent_by] : requests) {
    CHECK(asked.times == 1);
    CHECK(asked.error == store::Error::timeout);
    CHECK(asked.waited >= left);
    for (const auto& other : requests) {
      const bool earlier = other.sent_by + other.left < asked.asked_at + left;
      if (earlier)
        CHECK(other.asked.asked_at + other.asked.waited <= asked.asked_at + asked.waited);
    }
  }
  redis.resume();
}

TEST_CASE("a question that has waited before has the rest of the time, and is not kept by others") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.timeout = 2s;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  redis.pause();
  Asked& whole = fixture.ask();
  Asked part(fixture.gcra, 2, 1);
  fixture.send(part, 1'900ms);
  REQUIRE(fixture.run_until([&] { return part.times == 1; }));
  CHECK(part.error == store::Error::timeout);
  CHECK(part.waited >= 100ms);
  CHECK(whole.times == 0);
  REQUIRE(fixture.run_until_completed());
  CHECK(whole.error == store::Error::timeout);
  CHECK(whole.waited >= 2s);
  CHECK(part.times == 1);
  redis.resume();
}

TEST_CASE("giving a connection up fails its questions, and completes none within the call") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  redis.pause();
  Asked& asked = fixture.ask(2);
  fixture.store->reconnect();
  CHECK(asked.times == 0);
  CHECK_FALSE(fixture.store->is_ready());
  CHECK_THAT(std::string(fixture.store->last_error()), Contains("no answer"));
  Asked& next = fixture.ask();
  REQUIRE(fixture.run_until_completed());
  CHECK(asked.error == store::Error::connection_lost);
  CHECK(next.error == store::Error::not_connected);
  fixture.store->reconnect();  // nothing to give up
  redis.resume();
  REQUIRE(fixture.run_until_ready());
  CHECK(fixture.outcome() == store::Error::none);
  // A question that was not written is lost with the connection.
  CHECK(RedisCli(redis)({"DBSIZE"}) == "1");
}

TEST_CASE("a connection that is given up has the timeout in its error") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  const auto [timeout, text] = GENERATE(table<Duration, std::string>({
      {20ms, "no answer within 20 ms"},
      {2s, "no answer within 2000 ms"},
      {1'500us, "no answer within 1500 us"},
      {500us, "no answer within 500 us"},
  }));
  options.timeout = timeout;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  fixture.store->reconnect();
  CHECK_THAT(std::string(fixture.store->last_error()), EndsWith(": " + text));
}

TEST_CASE("scripts that the server has lost are loaded again, and the questions answered") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  RedisCli cli(redis);
  cli({"SCRIPT", "FLUSH"});
  for (int i = 0; i < 50; ++i)
    fixture.ask(fixture.few, 5, 1);
  REQUIRE(fixture.run_until_completed());
  int admitted = 0;
  for (const auto& request : fixture.requests) {
    CHECK(request.error == store::Error::none);
    admitted += request.admitted;
  }
  CHECK(admitted == 3);  // each counted once
  CHECK(fixture.counters.questions.value() == 50);
  CHECK(fixture.errors(store::Error::script_missing) == 0);
  CHECK(fixture.outcome() == store::Error::none);  // the other script was lost too
  CHECK(fixture.store->last_error().empty());
}

TEST_CASE("a script is not asked for twice") {
  RedisProcess redis;
  Relayed relayed(redis);
  auto& fixture = relayed.fixture;
  REQUIRE(fixture.start());
  relayed.relay.forged = "-NOSCRIPT No matching script.\r\n";
  const auto connections = relayed.relay.connections;
  CHECK(fixture.outcome() == store::Error::script_missing);
  CHECK(relayed.relay.connections == connections);
}

TEST_CASE("a replica is left, and the name asked again") {
  RedisProcess replica({"--replicaof", "127.0.0.1 1"});
  auto options = StoreFixture::options_for(replica);
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  for (int i = 0; i < 3; ++i)
    fixture.ask();
  REQUIRE(fixture.run_until_completed());
  for (const auto& request : fixture.requests)
    CHECK(request.error == store::Error::read_only);
  REQUIRE(fixture.run_until([&] { return !fixture.store->is_ready(); }));
  CHECK_THAT(std::string(fixture.store->last_error()), Contains("READONLY"));
  RedisCli cli(replica);
  cli({"REPLICAOF", "NO", "ONE"});
  REQUIRE(fixture.run_until_ready());
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("each kind of error reply has its error, and the connection stays") {
  RedisProcess redis;
  RedisCli cli(redis);
  cli({"ACL", "SETUSER", "limits", "on", "nopass", "~weir:*", "+@all"});
  auto options = StoreFixture::options_for(redis);
  options.user = "limits";
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  SECTION("no memory") {
    cli({"CONFIG", "SET", "maxmemory", "1"});
    CHECK(fixture.outcome(2) == store::Error::out_of_memory);
    CHECK_THAT(std::string(fixture.store->last_error()), Contains("OOM"));
    cli({"CONFIG", "SET", "maxmemory", "0"});
  }
  SECTION("no permission") {
    cli({"ACL", "SETUSER", "limits", "-evalsha"});
    CHECK(fixture.outcome() == store::Error::refused);
    CHECK_THAT(std::string(fixture.store->last_error()), Contains("NOPERM"));
    cli({"ACL", "SETUSER", "limits", "+evalsha"});
  }
  CHECK(fixture.outcome() == store::Error::none);
  CHECK(fixture.store->last_error().empty());
  CHECK(fixture.counters.connects.value() == 1);
}

TEST_CASE("a reply that is cut loses its question, and whole ones before it are read") {
  RedisProcess redis;
  Relayed relayed(redis);
  auto& fixture = relayed.fixture;
  REQUIRE(fixture.start());
  Asked& first = fixture.ask(fixture.few, 1, 1);
  REQUIRE(fixture.run_until_completed());
  const std::size_t cut = GENERATE(0, 1, 5, 20, 75);
  CAPTURE(cut);
  relayed.relay.cut_after = cut;
  fixture.ask(fixture.few, 2, 1);
  fixture.ask(fixture.few, 2, 1);
  fixture.ask(fixture.few, 2, 1);
  REQUIRE(fixture.run_until_completed());
  CHECK(first.error == store::Error::none);
  CHECK(fixture.requests.back().error == store::Error::connection_lost);
  REQUIRE(fixture.run_until_ready());
  // All three had been counted; none was sent again.
  Asked& fourth = fixture.ask(fixture.few, 2, 1);
  REQUIRE(fixture.run_until_completed());
  CHECK(fourth.error == store::Error::none);
  CHECK_FALSE(fourth.admitted);
}

TEST_CASE("a reply that no script returns is an error and nothing more") {
  RedisProcess redis;
  Relayed relayed(redis);
  auto& fixture = relayed.fixture;
  REQUIRE(fixture.start());
  struct Row {
    std::string answer;
    bool stays;
    std::string text;
  };
  const std::string unexpected = "the reply is not one of the script";
  const std::string too_long = "*" + std::to_string(most_elements + 1) + "\r\n";
  const auto row = GENERATE_COPY(
      values<Row>({{"+OK\r\n", true, unexpected},
                   {":1\r\n", true, unexpected},
                   {"*0\r\n", true, unexpected},
                   {"$-1\r\n", true, unexpected},
                   {"*2\r\n*1\r\n:1\r\n$1\r\nx\r\n", true, unexpected},
                   {"-\r\n", true, unexpected},
                   // not RESP
                   {"HTTP/1.1 400 Bad Request\r\n\r\n", false, "Protocol error, got \"H\""},
                   {"*99999999999\r\n", false, "length out of range"},
                   {too_long, false, std::string(oversized_reply)},
                   {std::string(4, '\0'), false, "Protocol error, got "},
                   // more answers than questions
                   {"-ERR no\r\n+OK\r\n+OK\r\n", false, "ERR no"}}));
  CAPTURE(row.answer);
  relayed.relay.forged = row.answer;
  CHECK(fixture.outcome() == store::Error::other);
  CHECK_THAT(std::string(fixture.store->last_reply(store::Error::other)), Contains(row.text));
  if (row.answer == too_long)
    CHECK_THAT(std::string(fixture.store->last_error()), EndsWith(row.text));
  relayed.relay.forged.clear();
  REQUIRE(fixture.run_until_ready());
  CHECK(fixture.outcome() == store::Error::none);
  CHECK((fixture.counters.connects.value() == 1) == row.stays);
}

TEST_CASE("an unexpected reply ends the connection, not the process") {
  RedisProcess redis;
  Relayed relayed(redis);
  auto& fixture = relayed.fixture;
  REQUIRE(fixture.start());
  REQUIRE(fixture.outcome() == store::Error::none);
  relayed.relay.say(GENERATE("+OK\r\n", "*1\r\n", ">1\r\n+x\r\n", "-ERR server is closing\r\n"));
  REQUIRE(fixture.run_until([&] { return fixture.counters.connects.value() == 2; }));
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a server that is not Redis is tried again, and named in the error") {
  RedisProcess redis;
  Relayed relayed(redis);
  auto& fixture = relayed.fixture;
  relayed.relay.forged =
      GENERATE("HTTP/1.1 400 Bad Request\r\n\r\n", "*1\r\n:1\r\n", "+OK\r\n+OK\r\n+OK\r\n+OK\r\n");
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return relayed.relay.connections >= 3; }));
  CHECK_FALSE(fixture.store->is_ready());
  CHECK_FALSE(fixture.store->last_error().empty());
  CAPTURE(relayed.relay.forged);
  CHECK_THAT(std::string(fixture.store->last_error()),
             Contains("not Redis") || EndsWith("not a reply of Redis"));
  CHECK(fixture.store->connection_failure() == store::Error::other);
  relayed.relay.forged.clear();
  CHECK(fixture.run_until_ready());
}

TEST_CASE("a handshake that is not answered is given up in time") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.connect_timeout = 50ms;
  Relayed relayed(options);
  relayed.relay.silent = true;
  relayed.fixture.store->start();
  REQUIRE(relayed.fixture.run_until([&] { return relayed.relay.connections >= 2; }));
  CHECK_THAT(std::string(relayed.fixture.store->last_error()),
             Contains("not ready within 50 ms; the server accepts connections: check"));
  relayed.relay.silent = false;
  CHECK(relayed.fixture.run_until_ready());
}

TEST_CASE("a server that closes its connections has a remedy in the error") {
  RedisProcess redis;
  Relayed relayed(redis);
  relayed.relay.cut_after = 0;
  auto& store = *relayed.fixture.store;
  store.start();
  REQUIRE(relayed.fixture.run_until([&] { return !store.last_error().empty(); }));
  CHECK_THAT(std::string(store.last_error()),
             Contains("; the connection was accepted and then closed: Redis may be stopping"));
  CHECK(store.connection_failure() == store::Error::not_connected);
  CHECK(relayed.fixture.run_until_ready());
}

TEST_CASE("a name that does not exist is in the error") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.host = "no-such-host.invalid";
  StoreFixture fixture(options);
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
  CHECK_THAT(std::string(fixture.store->last_error()), Contains("no-such-host.invalid:"));
  CHECK(fixture.outcome() == store::Error::not_connected);
}

TEST_CASE("a key is forgotten") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  fixture.ask(fixture.few, 9, 3);
  Asked& denied = fixture.ask(fixture.few, 9, 1);
  Asked unrelated(fixture.few, 9, 1);
  fixture.store->forget({.identity = Hash128{9, 9}}, unrelated, fixture.clock.now());
  Asked& fresh = fixture.ask(fixture.few, 9, 3);
  REQUIRE(fixture.run_until_completed());
  CHECK_FALSE(denied.admitted);
  CHECK(unrelated.times == 1);
  CHECK(unrelated.error == store::Error::none);
  CHECK(fresh.admitted);
}
