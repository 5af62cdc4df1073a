#include "store/circuit_breaker.hpp"

#include <list>
#include <new>

#include "catch.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

using State = NodeControl::State;
constexpr NodeControl::Options options{.timeout = 20ms, .failures = 2, .retry_after = 1s};

struct BreakerFixture {
  FakeStore remote;
  BreakerCounters counters;
  CircuitBreaker link{remote, options, counters};
  rules::Policy limit = gcra(1'000);
  Request request{{claim(limit, 1)}};

  Error serve(Duration after, Error error = Error::none) {
    request.come(link, after);
    if (request.waits()) remote.answer_all(epoch + after, error);
    return request.result->error;
  }
  State state() const { return counters.state.load(); }
};

/// Has no memory for a question.
struct Scarce final : RemoteStore {
  std::optional<Result> acquire(Acquisition&, Completion&, Instant) override {
    throw std::bad_alloc();
  }
  std::optional<Result> peek(Acquisition&, Completion&, Instant) override { return Result{}; }
  std::optional<Result> forget(const Key&, Completion&, Instant) override { return Result{}; }
  void settle(std::span<const Settlement>, Instant) override {}
  bool is_ready() const override { return true; }
  bool has_decided() const override { return true; }
  std::uint64_t replies() const override { return 0; }
  std::size_t unanswered() const override { return 0; }
  bool is_silent() const override { return false; }
  void reconnect() override {}
  std::optional<Result> probe(Completion&, Instant) override { throw std::bad_alloc(); }
  bool read_generation(GenerationReceiver&) override { return false; }
};

}  // namespace

TEST_CASE("A question for which there is no memory is an error, and the breaker does not wait") {
  Scarce remote;
  BreakerCounters counters;
  CircuitBreaker link{remote, options, counters};
  const auto limit = gcra(1'000);
  for (const Duration after : {0s, 0s, 1s}) {
    Request request{{claim(limit, 1)}};
    request.come(link, after);
    CHECK(request.result->error == Error::out_of_memory);
  }
  // The third one was let through by the open breaker, which is open again and not half-open.
  CHECK(counters.state.load() == State::open);
  link.probe(epoch + 2s);
  CHECK(counters.state.load() == State::open);
  CHECK(link.last_error() == Error::out_of_memory);
}

TEST_CASE("A request that finds no connection opens the breaker; any reply closes it") {
  BreakerFixture fixture;
  CHECK(fixture.serve(0s) == Error::none);
  CHECK(fixture.link.is_trusted());
  fixture.remote.ready = false;
  CHECK_FALSE(fixture.link.is_trusted());
  CHECK(fixture.serve(0s) == Error::not_connected);
  CHECK(fixture.state() == State::open);
  CHECK(fixture.serve(0s) == Error::not_connected);
  CHECK(fixture.counters.not_connected.value() == 2);
  fixture.remote.ready = true;
  CHECK(fixture.remote.questions == 1);
  CHECK(fixture.serve(1ms) == Error::not_connected);  // the last error: it is not asked
  CHECK(fixture.remote.questions == 1);
  CHECK(fixture.counters.not_connected.value() == 2);
  CHECK_FALSE(fixture.link.is_trusted());
  ++fixture.remote.replied;  // to the handshake
  CHECK(fixture.serve(1ms) == Error::none);
  CHECK(fixture.state() == State::closed);
  CHECK(fixture.link.is_trusted());
}

TEST_CASE("A silent store gets one question at a time, and another connection if that fails too") {
  BreakerFixture fixture;
  fixture.remote.silent = GENERATE(true, false);
  CHECK(fixture.serve(0s, Error::timeout) == Error::timeout);
  CHECK(fixture.state() == State::open);
  CHECK(fixture.remote.reconnects == 0);
  CHECK(fixture.serve(1ms) == Error::timeout);
  CHECK(fixture.remote.questions == 1);
  SECTION("its reply is late") {
    fixture.remote.reply_late();
    fixture.link.probe(epoch + 40ms);
    CHECK(fixture.state() == State::closed);
    CHECK(fixture.serve(40ms) == Error::none);
  }
  SECTION("it does not reply to a second question") {
    CHECK(fixture.serve(1s, Error::timeout) == Error::timeout);
    CHECK(fixture.remote.questions == 2);
    CHECK(fixture.state() == State::open);
    // One that is only slow would become slower.
    CHECK(fixture.remote.reconnects == (fixture.remote.silent ? 1 : 0));
    fixture.remote.ready = true;
    CHECK(fixture.serve(2s) == Error::none);
    CHECK(fixture.state() == State::closed);
  }
}

TEST_CASE("A store that answers with errors keeps its connection") {
  BreakerFixture fixture;
  fixture.remote.silent = true;
  for (const Duration after : {0s, 1s})
    CHECK(fixture.serve(after, Error::out_of_memory) == Error::out_of_memory);
  CHECK(fixture.state() == State::open);
  CHECK(fixture.link.last_error() == Error::out_of_memory);
  CHECK(fixture.serve(2s, Error::out_of_memory) == Error::out_of_memory);
  CHECK(fixture.remote.questions == 3);
  CHECK(fixture.remote.reconnects == 0);
}

TEST_CASE("As many questions are in flight as are answered in time, also those that are too late") {
  BreakerFixture fixture;
  std::list<Request> requests;
  const auto come = [&](Duration after) -> Request& {
    Request& request = requests.emplace_back(std::vector{claim(fixture.limit, 1)});
    request.come(fixture.link, after);
    return request;
  };
  for (int i = 0; i < 10; ++i) {
    const Request& request = come(0ms);
    CHECK(request.waits());
    CHECK_FALSE(request.acquisition.may_gather);
  }
  ++fixture.remote.replied;
  fixture.remote.answer_all(epoch + 20ms, Error::timeout);
  fixture.link.probe(epoch + 20ms);
  CHECK(fixture.remote.probes == 0);  // it counts as the others
  CHECK(fixture.counters.in_flight_limit.load() == 5);
  CHECK(fixture.counters.in_flight.load() == 10);
  CHECK(fixture.link.is_trusted());
  const Error last = fixture.link.last_error();
  const Request& withheld = come(21ms);
  CHECK(withheld.result->error == Error::overloaded);
  CHECK_FALSE(withheld.acquisition.asked_at.has_value());
  CHECK(fixture.link.last_error() == last);
  CHECK(fixture.counters.limited.value() == 1);
  CHECK(fixture.remote.questions == 10);
  fixture.remote.reply_late();
  for (const bool is_crowded : {false, false, true}) {  // from half of the limit on
    const Request& next = come(22ms);
    CHECK(next.waits());
    CHECK(next.acquisition.may_gather == is_crowded);
  }
}

TEST_CASE("A silence that is noticed before any question has timed out is a timeout") {
  BreakerFixture fixture;
  std::list<Request> requests;
  const auto come = [&](Duration after) -> Request& {
    Request& request = requests.emplace_back(std::vector{claim(fixture.limit, 1)});
    request.come(fixture.link, after);
    return request;
  };
  for (int i = 0; i < 10; ++i)
    come(0ms);
  fixture.remote.answer(epoch + 1ms);
  fixture.remote.answer(epoch + 1ms);
  fixture.remote.answer_all(epoch + 16ms);  // in time, but slow: fewer may be in flight
  CHECK(fixture.link.last_error() == Error::none);
  int granted = 0;
  while (come(17ms).waits())
    ++granted;
  CHECK(granted < 10);
  CHECK(requests.back().result->error == Error::overloaded);
  // The timers of the worker are late.
  CHECK(come(40ms).result->error == Error::timeout);
  CHECK(fixture.link.last_error() == Error::timeout);
  CHECK(fixture.state() == State::open);
  CHECK(come(41ms).result->error == Error::timeout);
}

TEST_CASE("While one question tests whether the store is back, no other is sent") {
  BreakerFixture fixture;
  for (const Duration after : {-1s, 0s})
    CHECK(fixture.serve(after, Error::out_of_memory) == Error::out_of_memory);
  CHECK(fixture.state() == State::open);
  Request first({claim(fixture.limit, 1)});
  first.come(fixture.link, 1s);
  CHECK(fixture.state() == State::half_open);
  CHECK(first.waits());
  CHECK(first.acquisition.asked_at == epoch + 1s);
  fixture.request.come(fixture.link, 1s);
  CHECK(fixture.request.result->error == Error::out_of_memory);
  CHECK_FALSE(fixture.request.acquisition.asked_at.has_value());
  CHECK(fixture.remote.questions == 3);
  fixture.remote.answer(epoch + 1s);
  CHECK(first.admitted());
  CHECK(fixture.state() == State::closed);
  CHECK(fixture.serve(1s) == Error::none);
}

TEST_CASE("A probe tests without a request whether the store decides") {
  BreakerFixture fixture;
  fixture.remote.decided = false;
  fixture.link.probe(epoch);
  CHECK(fixture.remote.probes == 1);
  fixture.link.probe(epoch);  // one at a time
  CHECK(fixture.remote.probes == 1);
  fixture.remote.answer(epoch);
  fixture.link.probe(epoch);  // it decides: nothing to find out
  CHECK(fixture.remote.probes == 1);
  CHECK(fixture.remote.questions == 0);

  CHECK(fixture.serve(0s, Error::other) == Error::other);
  fixture.link.probe(epoch);
  CHECK(fixture.remote.probes == 2);
  fixture.remote.answer(epoch, Error::other);
  CHECK(fixture.state() == State::open);
  // As often as the breaker lets a request through, and no more.
  fixture.link.probe(epoch + 999ms);
  CHECK(fixture.remote.probes == 2);
  fixture.link.probe(epoch + 1s);
  CHECK(fixture.remote.probes == 3);
  CHECK(fixture.state() == State::half_open);
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.state() == State::closed);
  // Without a connection there is nothing to ask.
  fixture.remote.decided = fixture.remote.ready = false;
  fixture.link.probe(epoch + 1s);
  CHECK(fixture.remote.probes == 3);
}

TEST_CASE("A probe that is answered at once is not awaited") {
  BreakerFixture fixture;
  fixture.remote.decided = false;
  fixture.remote.at_once = true;
  fixture.remote.fails_at_once = Error::loading;
  fixture.link.probe(epoch);
  fixture.link.probe(epoch);
  CHECK(fixture.remote.probes == 2);
  CHECK(fixture.state() == State::open);
  CHECK(fixture.link.last_error() == Error::loading);
}

}  // namespace weir::store::test
