// stop() in every phase leaves the loop empty, and every call is completed once.
#include "catch.hpp"
#include "relay.hpp"
#include "store_fixture.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;

namespace {

/// The loop runs out of work soon after stop().
bool ends(StoreFixture& fixture) {
  fixture.store->stop();
  fixture.io.restart();
  const auto until = SteadyClock::now() + 5s;
  fixture.io.run_until(until);
  return SteadyClock::now() < until && fixture.io.stopped();
}

}  // namespace

TEST_CASE("a store stops before it was started, when connecting, and when waiting to") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  SECTION("never started") {
    StoreFixture fixture(options);
    CHECK(ends(fixture));
  }
  SECTION("just started") {
    StoreFixture fixture(options);
    fixture.store->start();
    CHECK(ends(fixture));
  }
  SECTION("resolving") {
    options.host = "localhost";
    StoreFixture fixture(options);
    fixture.store->start();
    fixture.io.run_one();
    CHECK(ends(fixture));
  }
  SECTION("connecting") {
    StoreFixture fixture(options);
    fixture.store->start();
    fixture.io.run_one();
    CHECK(ends(fixture));
  }
  SECTION("shaking hands") {
    StoreFixture fixture(options);
    Relay relay(fixture.io, redis.port());
    relay.silent = true;
    options.port = relay.port();
    fixture.use(options);
    fixture.store->start();
    REQUIRE(fixture.run_until([&] { return relay.reads == 1; }));
    fixture.store->stop();
    relay.stop();
    CHECK(ends(fixture));
  }
  SECTION("waiting to try again") {
    redis.stop();
    StoreFixture fixture(options);
    fixture.store->start();
    REQUIRE(fixture.run_until([&] { return !fixture.store->last_error().empty(); }));
    CHECK(ends(fixture));
  }
}

TEST_CASE("a store stops when ready, with or without questions, which it completes") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  SECTION("idle") {
    CHECK(ends(fixture));
  }
  SECTION("asked, not yet sent") {
    Asked& asked = fixture.ask();
    CHECK(ends(fixture));
    CHECK(asked.times == 1);
    CHECK(asked.error == store::Error::connection_lost);
  }
  SECTION("asked and sent") {
    auto options = StoreFixture::options_for(redis);
    Relay relay(fixture.io, redis.port());
    options.port = relay.port();
    fixture.use(options);
    REQUIRE(fixture.start());
    relay.silent = true;
    const int before = relay.reads;
    Asked& asked = fixture.ask();
    REQUIRE(fixture.run_until([&] { return relay.reads > before; }));
    fixture.store->stop();
    relay.stop();
    CHECK(ends(fixture));
    CHECK(asked.times == 1);
    CHECK(asked.error == store::Error::connection_lost);
  }
  CHECK_FALSE(fixture.store->is_ready());
  Asked& after = fixture.ask();
  fixture.store->reconnect();
  REQUIRE(fixture.run_until_completed());
  CHECK(after.error == store::Error::not_connected);
}

namespace {

/// Uses the store from within its completion.
struct StoreUser final : store::Completion {
  void complete(const store::Result& result, Instant) noexcept override {
    ++times;
    error = result.error;
    if (use) use();
  }
  std::function<void()> use;
  int times = 0;
  store::Error error = store::Error::none;
};

}  // namespace

TEST_CASE("a completion may ask, give the connection up or stop the store") {
  RedisProcess redis;
  auto options = StoreFixture::options_for(redis);
  const bool silent = GENERATE(false, true);
  if (silent) options.timeout = 20ms;
  StoreFixture fixture(options);
  REQUIRE(fixture.start());
  StoreUser user;
  Asked before(fixture.gcra, 1, 1);
  if (silent) redis.pause();
  fixture.send(before, user);
  Asked& behind = fixture.ask();
  const std::string what = GENERATE("ask", "reconnect", "stop");
  CAPTURE(silent, what);
  user.use = [&] {
    if (what == "ask") fixture.ask();
    if (what == "reconnect") fixture.store->reconnect();
    if (what == "stop") fixture.store->stop();
    // Nothing is completed within the call.
    if (!silent) CHECK(behind.times == 0);
  };
  REQUIRE(fixture.run_until([&] { return user.times > 0 && fixture.all_completed(); }));
  CHECK(user.times == 1);
  CHECK(user.error == (silent ? store::Error::timeout : store::Error::none));
  if (what == "ask" && !silent) CHECK(behind.error == store::Error::none);
  if (what != "ask" && !silent) CHECK(behind.error == store::Error::connection_lost);
  redis.resume();
  if (what == "reconnect") CHECK(fixture.run_until_ready());
  CHECK(ends(fixture));
}

TEST_CASE("a store can go before its loop has run out") {
  RedisProcess redis;
  StoreFixture fixture(redis);
  REQUIRE(fixture.start());
  Asked& asked = fixture.ask();
  fixture.use(StoreFixture::options_for(redis));
  fixture.io.restart();
  fixture.io.run();
  CHECK(asked.times == 0);
}
