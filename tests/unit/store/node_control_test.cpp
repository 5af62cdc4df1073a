#include "store/node_control.hpp"

#include <vector>

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {
namespace {

using State = NodeControl::State;
using Permission = NodeControl::Permission;

/// One worker's questions, numbered in the order in which they are sent.
struct Control {
  Permission ask(Duration at) {
    const Permission permission = control.permission(epoch + at, in_flight);
    if (permission == Permission::granted) sent.push_back({epoch + at, ++in_flight});
    return permission;
  }
  bool is_granted(Duration at) { return ask(at) == Permission::granted; }
  void decide(std::size_t number, Duration at) {
    reply(at);
    control.on_decision(sent[number], epoch + at);
  }
  void fail(std::size_t number, Duration at) {
    reply(at);
    control.on_error(sent[number], epoch + at);
  }
  void expire(std::size_t number, Duration at) {
    control.on_timeout(sent[number], epoch + at, in_flight);
  }
  /// A reply that is late, or the one of the calls above.
  void reply(Duration at) {
    --in_flight;
    control.on_replies(epoch + at);
  }
  State state() const { return control.state(); }

  NodeControl control{{.timeout = 20ms, .failures = 3, .retry_after = 1s}};
  std::vector<NodeControl::Sent> sent;
  std::size_t in_flight = 0;
};

/// A control whose limit has been reduced to `limit`, at 1 s.
Control limited_to(std::size_t limit) {
  Control control;
  const std::size_t questions = limit * 2;
  for (std::size_t i = 0; i < questions; ++i)
    REQUIRE(control.is_granted(1s - 25ms));
  control.reply(1s - 24ms);
  control.expire(questions - 1, 1s - 5ms);
  while (control.in_flight > 0)
    control.reply(1s);
  REQUIRE(control.control.limit() == limit);
  control.sent.clear();
  return control;
}

}  // namespace

TEST_CASE("Consecutive errors open the control, and a decision starts the count again") {
  Control control;
  for (const Duration at : {0ms, 1ms, 2ms, 3ms, 4ms, 5ms})
    CHECK(control.is_granted(at));
  control.fail(0, 10ms);
  control.fail(1, 11ms);
  CHECK(control.state() == State::closed);
  for (const Duration at : {12ms, 13ms, 14ms, 15ms})
    CHECK(control.is_granted(at));
  control.decide(2, 16ms);
  control.fail(6, 17ms);
  CHECK(control.is_granted(18ms));
  control.fail(10, 19ms);
  CHECK(control.state() == State::closed);
  CHECK(control.is_granted(20ms));
  control.fail(11, 21ms);
  CHECK(control.state() == State::open);
  CHECK(control.ask(22ms) == Permission::refused);
}

TEST_CASE("Errors of questions that were in flight together count once") {
  Control control;
  for (int i = 0; i < 100; ++i)
    CHECK(control.is_granted(0ms));
  for (std::size_t i = 0; i < 100; ++i)
    control.fail(i, 1ms);
  CHECK(control.state() == State::closed);
}

TEST_CASE("After retry_after exactly one question tests the server, and its result counts") {
  Control control;
  control.control.set(1, 1s);
  CHECK(control.is_granted(-1ms));
  CHECK(control.is_granted(-1ms));
  control.fail(0, 0ms);
  CHECK(control.state() == State::open);
  CHECK(control.ask(999'999us) == Permission::refused);
  control.decide(1, 999'999us);  // an earlier question
  CHECK(control.state() == State::open);
  CHECK(control.is_granted(1s));
  CHECK(control.state() == State::half_open);
  CHECK(control.ask(5s) == Permission::refused);
  SECTION("its failure opens it again, from then") {
    control.fail(2, 5s);
    CHECK(control.state() == State::open);
    CHECK(control.ask(5'999'999us) == Permission::refused);
    CHECK(control.is_granted(6s));
  }
  SECTION("a timeout does too, although other replies arrive") {
    control.in_flight = 2;
    control.reply(1s + 10ms);
    control.expire(2, 1s + 20ms);
    CHECK(control.state() == State::open);
    CHECK(control.is_granted(2s + 20ms));
  }
  SECTION("its success closes it") {
    control.decide(2, 1s);
    CHECK(control.state() == State::closed);
    CHECK(control.is_granted(1s));
    CHECK(control.is_granted(1s));
  }
}

TEST_CASE("Other values apply at once, also while it is open") {
  Control control;
  CHECK(control.is_granted(0ms));
  CHECK(control.is_granted(0ms));
  control.control.set(1, 1h);
  control.fail(0, 0ms);
  CHECK(control.ask(1s) == Permission::refused);
  control.control.set(1, 1s);
  CHECK(control.ask(999'999us) == Permission::refused);
  CHECK(control.is_granted(1s));
}

TEST_CASE("A server that sends nothing is not asked, until any reply arrives") {
  Control control;
  CHECK(control.is_granted(0ms));
  CHECK(control.is_granted(19ms));
  control.expire(0, 20ms);
  CHECK(control.state() == State::open);
  CHECK(control.control.is_silent());
  CHECK(control.ask(21ms) == Permission::refused);
  control.expire(1, 39ms);
  CHECK(control.state() == State::open);
  control.reply(40ms);  // late
  CHECK(control.state() == State::closed);
  CHECK_FALSE(control.control.is_silent());
  CHECK(control.is_granted(40ms));
  CHECK(control.control.limit() == NodeControl::greatest_limit);
}

TEST_CASE("A silent server is tested with one question every retry_after") {
  Control control;
  CHECK(control.is_granted(0ms));
  control.expire(0, 20ms);
  CHECK(control.ask(1s) == Permission::refused);
  CHECK(control.is_granted(1s + 20ms));
  CHECK(control.ask(1s + 30ms) == Permission::refused);
  control.expire(1, 1s + 40ms);
  CHECK(control.ask(2s + 39ms) == Permission::refused);
  CHECK(control.is_granted(2s + 40ms));
  control.decide(2, 2s + 41ms);
  CHECK(control.state() == State::closed);
}

TEST_CASE("A reply does not close a control that errors have opened") {
  Control control;
  control.control.set(1, 1s);
  CHECK(control.is_granted(0ms));
  CHECK(control.is_granted(0ms));
  control.fail(0, 1ms);
  control.reply(2ms);
  CHECK(control.state() == State::open);
}

TEST_CASE("Without a connection it is open, and a new one is tested at once") {
  Control control;
  control.control.on_no_connection(epoch);
  CHECK(control.state() == State::open);
  CHECK(control.ask(1ms) == Permission::refused);
  control.control.on_replies(epoch + 2ms);
  CHECK(control.state() == State::open);
  CHECK(control.is_granted(2ms));
  CHECK(control.ask(2ms) == Permission::refused);
  SECTION("the server decides") {
    control.decide(0, 3ms);
    CHECK(control.state() == State::closed);
  }
  SECTION("the server is a replica") {
    control.fail(0, 3ms);
    CHECK(control.state() == State::open);
    control.control.on_no_connection(epoch + 4ms);
    control.control.on_replies(epoch + 5ms);  // of the next connection
    CHECK(control.ask(1s + 2ms) == Permission::refused);
    CHECK(control.is_granted(1s + 3ms));
  }
}

TEST_CASE("Another connection to a silent server is tested too") {
  Control control;
  CHECK(control.is_granted(0ms));
  control.expire(0, 20ms);
  control.control.on_no_connection(epoch + 30ms);
  control.control.on_replies(epoch + 40ms);
  CHECK(control.state() == State::open);
  CHECK(control.is_granted(40ms));
}

TEST_CASE("Answers that are too late or slow reduce the limit, once in a round trip") {
  Control control;
  for (int i = 0; i < 100; ++i)
    CHECK(control.is_granted(0ms));
  control.reply(1ms);
  SECTION("too late") {
    control.expire(98, 20ms);
    CHECK(control.state() == State::closed);
    CHECK(control.control.limit() == 49);
    control.expire(99, 20ms);
    CHECK(control.control.limit() == 49);
    CHECK(control.ask(20ms) == Permission::limited);
    SECTION("and then nothing arrives any more") {
      CHECK(control.ask(20'999us) == Permission::limited);
      CHECK(control.ask(22ms) == Permission::refused);
      CHECK(control.state() == State::open);
      CHECK(control.control.is_silent());
      CHECK(control.ask(1s + 21ms) == Permission::refused);
      CHECK(control.is_granted(1s + 22ms));
      control.expire(100, 1s + 42ms);
      CHECK(control.state() == State::open);
      return;
    }
    while (control.in_flight >= 49)
      control.reply(22ms);
    CHECK(control.is_granted(22ms));
  }
  SECTION("slow") {
    control.decide(0, 2ms);  // the least latency: 2 ms
    control.decide(98, 11ms);
    CHECK(control.control.limit() == NodeControl::greatest_limit);
    control.decide(98, 12ms);
    CHECK(control.control.limit() == 84);
    control.decide(99, 12ms);
    CHECK(control.control.limit() == 84);
  }
}

TEST_CASE("The limit has a lower bound") {
  Control control = limited_to(NodeControl::least_limit);
  CHECK(control.is_granted(1s));
  CHECK(control.is_granted(1s));
  CHECK(control.ask(1s) == Permission::limited);
  control.reply(1s + 1ms);
  control.expire(1, 1s + 20ms);
  CHECK(control.control.limit() == NodeControl::least_limit);
}

TEST_CASE("A limit that is used grows by half in a round trip while answers are fast") {
  Control control = limited_to(10);
  const auto round_trip = [&](Duration at, Duration latency) {
    const std::size_t first = control.sent.size();
    while (control.is_granted(at)) {
    }
    // The first ones find nothing in their way.
    for (std::size_t i = first; i < control.sent.size(); ++i)
      control.decide(i, at + (i < first + NodeControl::least_limit ? 1ms : latency));
  };
  round_trip(1s, 1ms);
  CHECK(control.control.limit() == 16);  // the half that found half of the limit in use
  round_trip(2s, 1ms);
  CHECK(control.control.limit() == 25);
  round_trip(3s, 9ms);  // slower: one more
  CHECK(control.control.limit() == 25);
  round_trip(4s, 9ms);
  round_trip(5s, 9ms);
  round_trip(6s, 9ms);
  CHECK(control.control.limit() == 26);
  control.sent.clear();
  CHECK(control.is_granted(7s));
  control.decide(0, 7s + 1ms);
  CHECK(control.control.limit() == 26);  // it was not used
}

TEST_CASE("A node is crowded while half of the limit is in flight, and the control is closed") {
  Control control = limited_to(10);
  CHECK_FALSE(control.control.is_crowded(0));
  CHECK_FALSE(control.control.is_crowded(4));
  CHECK(control.control.is_crowded(5));
  CHECK(control.control.is_crowded(10));
  control.control.on_no_connection(epoch + 2s);
  CHECK_FALSE(control.control.is_crowded(10));  // the question that tests it leaves at once
}

TEST_CASE("Latencies before the end of a silence do not show the load") {
  Control control;
  for (int i = 0; i < 100; ++i)
    CHECK(control.is_granted(19ms));
  control.expire(0, 39ms);
  CHECK(control.control.is_silent());
  control.reply(39ms);
  control.decide(99, 39ms);
  CHECK(control.control.limit() == NodeControl::greatest_limit);
}

TEST_CASE("A server that is far away is not slow") {
  Control control = limited_to(10);
  for (std::size_t i = 0; i < 5; ++i) {
    const Duration at = 1s + i * 50ms;
    CHECK(control.is_granted(at));
    control.decide(i, at + 18ms);
  }
  CHECK(control.control.limit() == 10);
  CHECK(control.is_granted(2s));
  control.decide(5, 2s + 19'500us);
  CHECK(control.control.limit() >= 9);
}

}  // namespace weir::store::test
