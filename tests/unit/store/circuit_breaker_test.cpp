#include "store/circuit_breaker.hpp"

#include <new>

#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

struct Fixture {
  FakeStore remote;
  ChainCounters counters;
  CircuitBreaker link{remote, Breaker(2, 1s), counters};
  rules::Policy limit = gcra(1'000);
  Request request{{claim(limit, 1)}};

  Error serve(Duration after, Error error = Error::none) {
    request.come(link, after);
    if (request.waits()) remote.answer_all(epoch + after, error);
    return request.result->error;
  }
  Breaker::State state() const { return counters.breaker.load(); }
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
  bool is_silent() const override { return false; }
  void reconnect() override {}
  std::optional<Result> probe(Completion&, Instant) override { return Result{}; }
  bool read_generation(GenerationReceiver&) override { return false; }
};

}  // namespace

TEST_CASE("A question for which there is no memory is an error, and the breaker does not wait") {
  Scarce remote;
  ChainCounters counters;
  CircuitBreaker link{remote, Breaker(2, 1s), counters};
  const auto limit = gcra(1'000);
  for (const Duration after : {0s, 0s, 1s}) {
    Request request{{claim(limit, 1)}};
    request.come(link, after);
    CHECK(request.result->error == Error::out_of_memory);
  }
  // The third one was let through by the open breaker, which is open again and not half-open.
  CHECK(counters.breaker.load() == Breaker::State::open);
}

TEST_CASE("Requests that find no connection open the breaker; it closes when the store is back") {
  Fixture fixture;
  CHECK(fixture.serve(0s) == Error::none);
  CHECK(fixture.link.is_trusted());
  fixture.remote.ready = false;
  CHECK_FALSE(fixture.link.is_trusted());
  CHECK(fixture.serve(0s) == Error::not_connected);
  CHECK(fixture.state() == Breaker::State::closed);
  CHECK(fixture.serve(0s) == Error::not_connected);
  CHECK(fixture.state() == Breaker::State::open);
  CHECK(fixture.counters.not_connected.value() == 2);
  fixture.remote.ready = true;
  CHECK(fixture.remote.questions == 1);
  CHECK(fixture.serve(999ms) == Error::not_connected);  // the last error: it is not asked
  CHECK(fixture.remote.questions == 1);
  CHECK(fixture.counters.not_connected.value() == 2);
  CHECK_FALSE(fixture.link.is_trusted());
  CHECK(fixture.serve(1s) == Error::none);
  CHECK(fixture.state() == Breaker::State::closed);
  CHECK(fixture.link.is_trusted());
}

TEST_CASE("After some timeouts a silent store gets one question at a time") {
  Fixture fixture;
  fixture.remote.silent = true;
  CHECK(fixture.serve(0s, Error::timeout) == Error::timeout);
  CHECK(fixture.state() == Breaker::State::closed);
  CHECK(fixture.remote.reconnects == 0);
  SECTION("a connection that is silent is left for another") {
    CHECK(fixture.serve(0s, Error::timeout) == Error::timeout);
    CHECK(fixture.state() == Breaker::State::open);
    CHECK(fixture.remote.reconnects == 1);
  }
  SECTION("one that is only slow is not") {
    fixture.remote.silent = false;
    CHECK(fixture.serve(0s, Error::timeout) == Error::timeout);
    CHECK(fixture.state() == Breaker::State::open);
    CHECK(fixture.remote.reconnects == 0);
    CHECK(fixture.remote.questions == 2);
    CHECK(fixture.serve(0s) == Error::timeout);
    CHECK(fixture.remote.questions == 2);
    fixture.remote.silent = true;
    CHECK(fixture.serve(1s, Error::timeout) == Error::timeout);
    CHECK(fixture.remote.questions == 3);
    CHECK(fixture.state() == Breaker::State::open);
    CHECK(fixture.remote.reconnects == 1);
    fixture.remote.ready = true;
    CHECK(fixture.serve(2s) == Error::none);
    CHECK(fixture.state() == Breaker::State::closed);
  }
  SECTION("nor one that answers with an error") {
    CHECK(fixture.serve(0s, Error::out_of_memory) == Error::out_of_memory);
    CHECK(fixture.state() == Breaker::State::open);
    CHECK(fixture.remote.reconnects == 0);
    CHECK(fixture.link.last_error() == Error::out_of_memory);
  }
}

TEST_CASE("While one question tests whether the store is back, no other is sent") {
  Fixture fixture;
  for (int i = 0; i < 2; ++i)
    CHECK(fixture.serve(0s, Error::out_of_memory) == Error::out_of_memory);
  CHECK(fixture.state() == Breaker::State::open);
  Request first({claim(fixture.limit, 1)});
  first.come(fixture.link, 1s);
  CHECK(fixture.state() == Breaker::State::half_open);
  CHECK(first.waits());
  CHECK(first.acquisition.asked_at == epoch + 1s);
  fixture.request.come(fixture.link, 1s);
  CHECK(fixture.request.result->error == Error::out_of_memory);
  CHECK_FALSE(fixture.request.acquisition.asked_at.has_value());
  CHECK(fixture.remote.questions == 3);
  fixture.remote.answer(epoch + 1s);
  CHECK(first.admitted());
  CHECK(fixture.state() == Breaker::State::closed);
  CHECK(fixture.serve(1s) == Error::none);
}

TEST_CASE("A probe tests without a request whether the store decides") {
  Fixture fixture;
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
  CHECK(fixture.state() == Breaker::State::open);
  // As often as the breaker lets a request through, and no more.
  fixture.link.probe(epoch + 999ms);
  CHECK(fixture.remote.probes == 2);
  fixture.link.probe(epoch + 1s);
  CHECK(fixture.remote.probes == 3);
  CHECK(fixture.state() == Breaker::State::half_open);
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.state() == Breaker::State::closed);
  // Without a connection there is nothing to ask.
  fixture.remote.decided = fixture.remote.ready = false;
  fixture.link.probe(epoch + 1s);
  CHECK(fixture.remote.probes == 3);
}

TEST_CASE("A probe that is answered at once is not awaited") {
  Fixture fixture;
  fixture.remote.decided = false;
  fixture.remote.at_once = true;
  fixture.remote.fails_at_once = Error::loading;
  fixture.link.probe(epoch);
  fixture.link.probe(epoch);
  CHECK(fixture.remote.probes == 2);
  CHECK(fixture.state() == Breaker::State::open);
  CHECK(fixture.link.last_error() == Error::loading);
}

}  // namespace weir::store::test
