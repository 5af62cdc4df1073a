// The waits that a watchdog ends, for each reason and phase.
#include "proxy/watchdog.hpp"

#include "catch.hpp"

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

struct Waiting final : loop::Cancellable {
  void cancel() override { ++cancels; }
  void close() override { ++closes; }
  void reset() override { ++resets; }
  int cancels = 0;
  int closes = 0;
  int resets = 0;
};

struct Watch {
  void tick(int count = 1) {
    for (int i = 0; i < count; ++i)
      wheel.advance(wheel.now() + 1,
                    [](Deadline& deadline) { static_cast<Watchdog&>(deadline).on_deadline(); });
  }

  DeadlineWheel wheel;
  Waiting client;
  Waiting other;
  Watchdog watchdog{wheel, client};
};

TEST_CASE("A deadline ends the wait for the client, except where only the upstream is waited for") {
  const auto [phase, cancels_client] = GENERATE(table<Phase, bool>({
      {Phase::open, true},
      {Phase::idle, true},
      {Phase::head, true},
      {Phase::body, true},
      {Phase::relay, true},
      {Phase::tunnel, true},
      {Phase::linger, true},
      {Phase::connect, false},
      {Phase::response, false},
  }));
  CAPTURE(static_cast<int>(phase));
  Watch watch;
  const Watched watched(watch.watchdog, watch.other);
  watch.watchdog.arm(phase, 200ms);
  CHECK(watch.watchdog.phase() == phase);
  watch.tick(2);
  CHECK_FALSE(watch.watchdog.timed_out());
  watch.tick();
  CHECK(watch.watchdog.timed_out());
  CHECK(watch.other.cancels == 1);
  CHECK(watch.client.cancels == (cancels_client ? 1 : 0));
  CHECK(watch.other.closes + watch.client.closes == 0);
}

TEST_CASE("A deadline fires again each tick until another phase begins") {
  Watch watch;
  watch.watchdog.arm(Phase::body, 100ms);
  watch.tick(2);
  CHECK(watch.client.cancels == 1);
  watch.tick(2);
  CHECK(watch.client.cancels == 3);
  SECTION("one with a timeout") {
    watch.watchdog.arm(Phase::relay, 1s);
    watch.tick(10);
  }
  SECTION("one that somebody else bounds") {
    watch.watchdog.disarm(Phase::delay);
    watch.tick(100);
    CHECK(watch.watchdog.phase() == Phase::delay);
  }
  CHECK(watch.client.cancels == 3);
}

TEST_CASE("The timeout of one phase is forgotten by the next, but not by a phase without timeout") {
  Watch watch;
  watch.watchdog.arm(Phase::body, 100ms);
  watch.tick(2);
  REQUIRE(watch.watchdog.timed_out());
  SECTION("arm") {
    watch.watchdog.arm(Phase::response, 100ms);
    CHECK_FALSE(watch.watchdog.timed_out());
  }
  SECTION("begin") {
    watch.watchdog.begin(Phase::tunnel);
    CHECK_FALSE(watch.watchdog.timed_out());
    CHECK(watch.watchdog.phase() == Phase::tunnel);
  }
  SECTION("forget") {
    watch.watchdog.forget_timeout();
    CHECK_FALSE(watch.watchdog.timed_out());
    CHECK(watch.watchdog.phase() == Phase::body);
  }
  SECTION("disarm") {
    watch.watchdog.disarm(Phase::decide);
    CHECK(watch.watchdog.timed_out());
  }
}

TEST_CASE("A client that has left ends what is waited for beside it") {
  Watch watch;
  {
    const Watched watched(watch.watchdog, watch.other);
    watch.watchdog.client_left();
    CHECK(watch.other.cancels == 1);
  }
  CHECK(watch.client.cancels + watch.client.closes == 0);
  CHECK(watch.watchdog.interruptions().client_left);
  CHECK_FALSE(watch.watchdog.aborted());
  watch.watchdog.client_left();
  CHECK(watch.other.cancels == 1);  // not watched any more
  watch.watchdog.arm(Phase::response, 1s);
  CHECK(watch.watchdog.interruptions().client_left);
}

TEST_CASE("An abort ends the waits for good, and resets what would look complete") {
  const auto [phase, is_cut] = GENERATE(table<Phase, bool>({
      {Phase::open, false},
      {Phase::idle, false},
      {Phase::head, false},
      {Phase::decide, false},
      {Phase::delay, false},
      {Phase::connect, false},
      {Phase::response, false},
      {Phase::relay, true},
      {Phase::body, true},
      {Phase::tunnel, true},
      {Phase::linger, false},
  }));
  CAPTURE(static_cast<int>(phase));
  Watch watch;
  watch.watchdog.begin(phase);
  watch.watchdog.watch(&watch.other);
  watch.watchdog.abort();
  for (const Waiting* const waiting : {&watch.client, &watch.other}) {
    CHECK(waiting->closes == (is_cut ? 0 : 1));
    CHECK(waiting->resets == (is_cut ? 1 : 0));
  }
  watch.watchdog.arm(Phase::response, 1s);
  CHECK(watch.watchdog.aborted());
  watch.watchdog.watch(nullptr);
  watch.watchdog.abort();
  CHECK(watch.other.closes + watch.other.resets == 1);
}

}  // namespace
}  // namespace weir::proxy
