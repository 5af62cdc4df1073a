// The pauses between the attempts to connect.
#include <functional>

#include "catch.hpp"
#include "machine_fixture.hpp"
#include "redis/connection_machine.hpp"

using namespace weir;
using namespace weir::redis;
using namespace weir::redis::test;
using Catch::Matchers::EndsWith;

namespace {

struct Pauses {
  Time::duration shortest = Time::duration::max();
  Time::duration longest{};
};

/// The pauses of many instances after this many failed lookups and then `happen`.
Pauses pauses_after(int failures, const std::function<void(MachineFixture&)>& happen = nullptr) {
  Pauses pauses;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    MachineFixture fixture(MachineFixture::full_options(), {}, seed * 0x9e3779b97f4a7c15);
    for (int i = 0; i < failures; ++i) {
      fixture.succeed(State::resolving);
      fixture.resolve_fails("no such host");
    }
    if (happen) happen(fixture);
    REQUIRE(fixture.machine.state() == State::waiting);
    pauses.shortest = std::min(pauses.shortest, *fixture.wake_at - fixture.now);
    pauses.longest = std::max(pauses.longest, *fixture.wake_at - fixture.now);
  }
  return pauses;
}

/// Checks that the pauses lie between the half and the whole, and come near both.
void check(const Pauses& pauses, Duration whole) {
  CHECK(pauses.shortest >= whole / 2);
  CHECK(pauses.shortest <= whole * 11 / 20);
  CHECK(pauses.longest <= whole);
  CHECK(pauses.longest >= whole * 19 / 20);
}

}  // namespace

TEST_CASE("pauses grow with each failure to a second") {
  struct Row {
    int failures;
    Duration whole;
  };
  const auto row = GENERATE(values<Row>(
      {{1, 50ms}, {2, 100ms}, {3, 200ms}, {4, 400ms}, {5, 800ms}, {6, 1s}, {7, 1s}, {30, 1s}}));
  CAPTURE(row.failures);
  check(pauses_after(row.failures), row.whole);
}

TEST_CASE("pauses begin at the shortest again after a connection that lasted a second") {
  const auto connect_for = [](Duration time) {
    return [time](MachineFixture& fixture) {
      fixture.succeed();
      fixture.pass(time);
      fixture.closed("reset by peer");
    };
  };
  check(pauses_after(20, connect_for(1s)), 50ms);
  check(pauses_after(0, connect_for(1s)), 50ms);
  // one that was shorter counts as another failure
  check(pauses_after(20, connect_for(1s - 1us)), 1s);
  check(pauses_after(1, connect_for(1s - 1us)), 100ms);
  check(pauses_after(0, connect_for(0s)), 50ms);
}

TEST_CASE("a server that is back is found within a second, however long it was away") {
  for (const int failures : {0, 1, 5, 30, 1'000}) {
    CAPTURE(failures);
    MachineFixture fixture;
    fixture.start();
    for (int i = 0; i < failures; ++i) {
      fixture.succeed(State::resolving);
      fixture.resolve_fails("no such host");
    }
    const Time back_at = fixture.now;
    fixture.succeed();
    CHECK(fixture.now - back_at <= 1s);
  }
}

TEST_CASE("a refusal is followed by the longest pause at once") {
  const auto refuse = [](MachineFixture& fixture) {
    fixture.succeed(State::introducing);
    fixture.reply(error("WRONGPASS invalid username-password pair"));
  };
  check(pauses_after(0, refuse), 1s);
  check(pauses_after(3, refuse), 1s);
  // and so are the failures after it
  check(pauses_after(0,
                     [&](MachineFixture& fixture) {
                       refuse(fixture);
                       fixture.succeed(State::resolving);
                       fixture.resolve_fails("no such host");
                     }),
        1s);
}

TEST_CASE("a refused handshake is not repeated within half a second") {
  MachineFixture fixture;
  std::vector<std::string> replies{"WRONGPASS invalid username-password pair", "NOAUTH required",
                                   "ERR AUTH <password> called without any password configured"};
  for (const auto& reply : replies) {
    fixture.succeed(State::introducing);
    CHECK(fixture.text(fixture.reply(error(reply))) == refused);
    CHECK_THAT(fixture.machine.last_error(),
               EndsWith("AUTH: " + reply + "; check the user and the password in store.redis.url"));
    fixture.pass(500ms - 1us);
    CHECK(fixture.text(fixture.machine.on_deadline(fixture.now)).starts_with("wake "));
    CHECK(fixture.machine.state() == State::waiting);
    CHECK(fixture.machine.last_failure() == store::Error::refused);
  }
  SECTION("the first attempt after the server accepts the password succeeds") {
    CHECK(fixture.text(fixture.succeed()) == "report ready");
  }
  SECTION("the server cannot be reached any more") {
    fixture.succeed(State::resolving);
    CHECK(fixture.machine.last_failure() == store::Error::refused);  // until the attempt has failed
    fixture.resolve_fails("no such host");
  }
  CHECK(fixture.machine.last_failure() != store::Error::refused);
}

TEST_CASE("LOADING is not a refusal") {
  MachineFixture fixture;
  fixture.succeed(State::loading);
  CHECK(fixture.text(fixture.reply(error("LOADING Redis is loading the dataset in memory"))) ==
        closed_and_failed);
  CHECK(fixture.machine.last_failure() == store::Error::loading);
}

TEST_CASE("instances that lost the same server reconnect at different times") {
  const auto pause_of = [](std::uint64_t seed) {
    MachineFixture fixture(MachineFixture::full_options(), {}, seed);
    fixture.succeed();
    return *fixture.closed("reset").wake_at - fixture.now;
  };
  CHECK(pause_of(1) == pause_of(1));
  CHECK(pause_of(1) != pause_of(2));
  CHECK(pause_of(1) != pause_of(std::uint64_t{1} << 40));
}

TEST_CASE("without memory an attempt or a connection fails, and the next attempt follows a pause") {
  const State state = GENERATE(from_range(states));
  CAPTURE(name_of(state));
  MachineFixture fixture;
  if (state != State::stopped) fixture.succeed(state);
  const auto actions = fixture.exception("out of memory");
  if (state <= State::waiting) {
    CHECK(fixture.text(actions) == (state == State::waiting ? "wake 0" : ""));
    CHECK(fixture.machine.state() == state);
    return;
  }
  CHECK(fixture.text(actions) == closed_and_failed);
  CHECK(fixture.machine.state() == State::waiting);
  CHECK(fixture.machine.last_error() == "redis.example:6379: out of memory");
  fixture.deadline();
  CHECK(fixture.machine.state() == State::resolving);
}

TEST_CASE("a long reason of an exception is cut") {
  MachineFixture fixture;
  fixture.succeed();
  fixture.exception(std::string(100, 'x'));
  CHECK(fixture.machine.last_error() == "redis.example:6379: " + std::string(64, 'x'));
}
