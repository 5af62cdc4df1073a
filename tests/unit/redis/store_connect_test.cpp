// The server and the user of a Store's connection, and its errors when it is rejected.
#include "catch.hpp"
#include "redis/question_command.hpp"
#include "relay.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using Catch::Matchers::Contains;

TEST_CASE(
    "whichever script there is, a probe finds out whether Redis decides, and leaves nothing") {
  RedisProcess redis;
  RedisCli cli(redis);
  struct Received final : store::Completion {
    void complete(const store::Result& result, Instant) noexcept override { error = result.error; }
    std::optional<store::Error> error;
  };
  const auto options = StoreFixture::options_for(redis);
  StoreFixture fixture(options);
  for (int i = 0; i < 7; ++i) {
    const auto algorithm = static_cast<rules::Algorithm>(i);
    CAPTURE(to_string(algorithm));
    cli({"FLUSHALL"});
    cli({"CONFIG", "RESETSTAT"});
    fixture.store->stop();
    fixture.use(options,
                {.entries = {.policy_names = {"first"}, .algorithm_sets = {set_of(algorithm)}}});
    REQUIRE(fixture.start());
    CHECK_FALSE(fixture.store->has_decided());
    Received received;
    CHECK_FALSE(fixture.store->probe(received, fixture.clock.now()).has_value());
    REQUIRE(fixture.run_until([&] { return received.error.has_value(); }));
    CHECK(received.error == store::Error::none);
    CHECK(fixture.store->has_decided());
    // It was written under a name that no policy can have, and expires: a full quota within two
    // milliseconds.
    const std::string key =
        "weir:{00000000000000000000000000000000}::" + std::string(state_code(algorithm));
    const std::string keys = cli({"KEYS", "*"});
    const long ttl = std::stol(cli({"PTTL", key}));
    const bool is_full = algorithm == rules::Algorithm::token_bucket ||
                         algorithm == rules::Algorithm::gcra ||
                         algorithm == rules::Algorithm::leaky_bucket;
    if (is_full && ttl == -2) {  // no such key
      CHECK_THAT(cli({"INFO", "stats"}), Contains("expired_keys:1"));
    } else {
      CHECK(keys == key + "\n");
      CHECK(ttl >= 0);
      CHECK(ttl <= 61'000);
    }
  }
  // A store without scripts has nothing to decide.
  fixture.store->stop();
  fixture.use(options, {});
  CHECK(fixture.store->has_decided());
}

TEST_CASE("a store connects by address, by name and by unix socket, and decides") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  const std::string way = GENERATE("127.0.0.1", "localhost", "unix");
  CAPTURE(way);
  if (way == "unix")
    options.unix_path = redis.unix_path();
  else
    options.host = way;

  StoreFixture fixture(options);
  CHECK_FALSE(fixture.store->is_ready());
  REQUIRE(fixture.start());
  CHECK(fixture.store->last_error().empty());
  CHECK(fixture.counters.connects.value() == 1);

  auto& asked = fixture.ask(fixture.few, 7, 2);
  CHECK(asked.times == 0);  // never from within ask()
  REQUIRE(fixture.run_until_completed());
  CHECK(asked.error == store::Error::none);
  CHECK(asked.admitted);
  CHECK(asked.decision.limit == 3);
  CHECK(asked.decision.remaining == 1);
  auto& denied = fixture.ask(fixture.few, 7, 2);
  REQUIRE(fixture.run_until_completed());
  CHECK(denied.error == store::Error::none);
  CHECK_FALSE(denied.admitted);
  CHECK(fixture.counters.questions.value() == 2);
}

TEST_CASE("the client has a name, and the database is the one configured") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.database = 3;
  options.key_prefix = "mine:";
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  fixture.ask(fixture.few, 1, 1);
  REQUIRE(fixture.run_until_completed());
  RedisCli cli(redis);
  CHECK_THAT(cli({"CLIENT", "LIST"}), Contains(" name=weir ") && Contains(" db=3 "));
  CHECK(cli({"DBSIZE"}) == "0");
  cli({"SELECT", "3"});
  CHECK_THAT(cli({"KEYS", "*"}), Contains("mine:{") && Contains("}:first"));
}

TEST_CASE("a password and an ACL user are sent") {
  RedisProcess redis;
  RedisCli cli(redis);
  cli({"ACL", "SETUSER", "limits", "on", ">s3cret", "~weir:*", "+@all", "-client|setname"});
  cli({"CONFIG", "SET", "requirepass", "hunter2 \""});
  auto options = StoreFixture::options_for(redis);
  SECTION("the default user's password") {
    options.password = Secret("hunter2 \"");
  }
  SECTION("a user that may not even name itself") {
    options.user = "limits";
    options.password = Secret("s3cret");
  }
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  CHECK(fixture.outcome() == store::Error::none);
}

TEST_CASE("a refused user retries rarely, with an error that never has the password") {
  RedisProcess redis({"--requirepass", "hunter2"});
  auto options = StoreFixture::options_for(redis);
  std::string why;
  SECTION("a wrong password") {
    options.password = Secret("wr0ng");
    why = "AUTH: WRONGPASS";
  }
  SECTION("none") {
    why = "CLIENT SETNAME: NOAUTH";
  }
  StoreFixture fixture(options);
  int failures = 0;
  fixture.store->watch([&] { ++failures; });
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return failures > 0; }));
  const std::string error(fixture.store->last_error());
  CHECK_THAT(error, Contains("127.0.0.1:") && Contains(why) && !Contains("wr0ng"));
  CHECK(fixture.store->connection_failure() == store::Error::refused);
  fixture.run_ready();  // how long the pause is, connection_machine_pause_test.cpp checks
  CHECK(failures == 1);
  CHECK(fixture.outcome() == store::Error::not_connected);

  SECTION("and is accepted once the server has the user") {
    RedisCli cli(redis);
    cli({"AUTH", "hunter2"});
    cli({"CONFIG", "SET", "requirepass", options.password.reveal()});
    CHECK(fixture.run_until_ready());
    CHECK(fixture.store->connection_failure() == store::Error::none);
  }
}

TEST_CASE("a password that the server does not want is a refusal") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  options.password = Secret("unwanted");
  StoreFixture fixture(options);
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
  CHECK_THAT(std::string(fixture.store->last_error()),
             Contains("AUTH: ERR AUTH <password> called"));
}

TEST_CASE("a long password is not shown in part either") {
  RedisProcess redis({"--rename-command", "AUTH", ""});
  auto options = StoreFixture::options_for(redis);
  options.password = Secret(std::string(300, 's'));
  StoreFixture fixture(options);
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
  CHECK_THAT(std::string(fixture.store->last_error()),
             Contains("AUTH: ERR unknown command") && !Contains("sss"));
}

TEST_CASE("algorithms that were not announced are not asked for") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  const auto buckets = policy_of({.algorithm = rules::Algorithm::token_bucket, .rates = {{1, 1s}}});
  const Asked& asked = fixture.ask(buckets, 1, 1);
  REQUIRE(fixture.run_until_completed());
  CHECK(asked.error == store::Error::other);
  CHECK(fixture.counters.questions.value() == 0);
}

TEST_CASE("the last reply of a server that closes is a better reason than the close") {
  RedisProcess redis;
  RedisCli the_only_client(redis);
  the_only_client({"CONFIG", "SET", "maxclients", "1"});
  StoreFixture fixture(redis);
  fixture.store->start();
  REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
  CHECK_THAT(std::string(fixture.store->last_error()), Contains("max number of clients reached"));
}

TEST_CASE("commands of one pass of the loop leave in one write") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  StoreFixture fixture(options);
  Relay relay(fixture.io, redis.port());
  options.port = relay.port();
  fixture.use(options);
  REQUIRE(fixture.start());
  CHECK(relay.reads == 2);  // who we are, and the scripts

  relay.reads = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    fixture.ask(i);
  REQUIRE(fixture.run_until_completed());
  CHECK(relay.reads == 1);
  fixture.ask();
  REQUIRE(fixture.run_until_completed());
  CHECK(relay.reads == 2);
}

TEST_CASE("more than the socket takes at once is written when it does") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  // A unix socket's buffers do not grow, so that the questions do not fit for certain.
  if (GENERATE(false, true)) options.unix_path = redis.unix_path();
  CAPTURE(options.unix_path);
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  redis.pause();
  for (std::uint64_t i = 0; i < 30'000; ++i)  // several MB
    fixture.ask(i % 10);
  fixture.run_ready();
  redis.resume();
  REQUIRE(fixture.run_until_completed());
  for (const auto& request : fixture.requests)
    REQUIRE(request.error == store::Error::none);
}

TEST_CASE("a hundred thousand questions over one connection") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  std::uint64_t allowed = 0;
  for (int round = 0; round < 1'000; ++round) {
    for (std::uint64_t i = 0; i < 100; ++i)
      fixture.ask(i);
    REQUIRE(fixture.run_until_completed());
    for (const auto& request : fixture.requests)
      allowed +=
          request.times == 1 && request.error == store::Error::none && request.decision.allowed;
    fixture.requests.clear();
  }
  CHECK(allowed == 100'000);
  CHECK(fixture.counters.questions.value() == 100'000);
  CHECK(fixture.counters.connects.value() == 1);
}
