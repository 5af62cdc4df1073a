// When a denial expires, one request asks and the others wait for its answer.
//
// A denial is kept for 5 s of the test's time, and renewed by the fake store, whose time stands
// still.
#include "store/single_flight.hpp"

#include <array>

#include "catch.hpp"
#include "contract/store_model.hpp"
#include "store/circuit_breaker.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

/// A key of three units is denied, and then the denial expires: `first` asks, `others` wait.
struct Expired : ChainFixture {
  Expired() {
    options.timeout = 20s;
    breaker_options.failures = 3;
  }
  void exhaust() {
    Request request({shared(narrow)});
    for (int i = 0; i < 3; ++i) {
      serve(request);
      REQUIRE(request.admitted());
    }
    REQUIRE(remote.questions == 3);
  }
  void come() {
    first.come(front(), 5s);
    for (auto& other : others)
      other.come(front(), 5s);
    REQUIRE(remote.questions == 4);
    for (const auto& other : others)
      REQUIRE(other.waits());
  }
  void completed_once() const {
    CHECK(first.times == 1);
    for (const auto& other : others)
      CHECK(other.times == 1);
  }

  rules::Policy narrow = gcra(3);
  Request first{{shared(narrow)}};
  std::array<Request, 3> others{Request{{shared(narrow)}}, Request{{shared(narrow)}},
                                Request{{shared(narrow)}}};
};

}  // namespace

TEST_CASE("Another denial holds for all that wait") {
  Expired fixture;
  fixture.exhaust();
  fixture.come();
  fixture.remote.answer(epoch + 5s);
  CHECK(fixture.first.denied());
  for (const auto& other : fixture.others) {
    CHECK(other.denied());
    CHECK(other.decider() == Decider::redis);
  }
  CHECK(fixture.remote.questions == 4);
  fixture.completed_once();
}

TEST_CASE("If something is left, all that wait ask at once") {
  Expired fixture;
  fixture.exhaust();
  fixture.remote.server.forget({.identity = fixture.first.claims[0].identity});
  fixture.come();
  fixture.remote.answer(epoch + 5s);
  CHECK(fixture.first.admitted());
  CHECK(fixture.remote.questions == 7);
  for (const auto& other : fixture.others)
    CHECK(other.waits());
  fixture.remote.answer_all(epoch + 5s);
  CHECK(fixture.others[0].admitted());
  CHECK(fixture.others[1].admitted());
  CHECK(fixture.others[2].denied());
  fixture.completed_once();
}

TEST_CASE("An answer that has expired on arrival is asked for again by one, for those after it") {
  Expired fixture;
  fixture.exhaust();
  fixture.come();
  fixture.remote.answer(epoch + 10s);
  CHECK(fixture.first.denied());
  CHECK(fixture.remote.questions == 5);
  CHECK(fixture.remote.pending.front().acquisition == &fixture.others[0].acquisition);
  CHECK(fixture.remote.pending.front().waited == 5s);
  for (const auto& other : fixture.others)
    CHECK(other.waits());
  fixture.remote.answer(epoch + 10s);
  for (const auto& other : fixture.others)
    CHECK(other.denied());
  CHECK(fixture.remote.questions == 5);
  fixture.completed_once();
}

TEST_CASE("No request waits for a later one, which may take longer") {
  Expired fixture;
  fixture.exhaust();
  fixture.first.come(fixture.front(), 8s);
  CHECK(fixture.remote.questions == 4);
  fixture.others[0].ask(fixture.front(), 2s, 9s);
  CHECK(fixture.remote.questions == 5);
  CHECK(fixture.remote.pending.back().waited == 7s);
  fixture.others[1].ask(fixture.front(), 8s, 9s);
  CHECK(fixture.remote.questions == 5);  // it waits
  fixture.remote.answer_all(epoch + 9s);
  CHECK(fixture.first.denied());
  CHECK(fixture.others[0].denied());
  CHECK(fixture.others[1].denied());
  CHECK(fixture.remote.questions == 5);
}

TEST_CASE("A request that has waited for all of its time decides alone") {
  Expired fixture;
  fixture.exhaust();
  fixture.come();
  SECTION("just before, each asks with the rest of its time") {
    fixture.remote.answer(epoch + 24'999ms);
    CHECK(fixture.first.denied());
    CHECK(fixture.remote.questions == 7);
    CHECK(fixture.remote.pending.front().waited == 19'999ms);
    fixture.remote.answer_all(epoch + 25s, Error::timeout);
  }
  SECTION("then no request asks") {
    fixture.remote.answer(epoch + 25s);
    CHECK(fixture.first.denied());
    CHECK(fixture.remote.questions == 4);
  }
  for (const auto& other : fixture.others)
    CHECK(other.decider() == Decider::local);
  fixture.completed_once();
}

TEST_CASE("A connection that ends leaves no request waiting") {
  Expired fixture;
  fixture.exhaust();
  fixture.come();
  fixture.remote.ready = false;
  fixture.remote.answer(epoch + 5s, Error::connection_lost);
  CHECK(fixture.first.decider() == Decider::local);
  for (const auto& other : fixture.others)
    CHECK(other.decider() == Decider::local);
  CHECK(fixture.remote.questions == 4);
  fixture.completed_once();
}

TEST_CASE("A request that waits for a silent store is decided within its own time") {
  Expired fixture;
  fixture.options.timeout = 50ms;
  fixture.exhaust();
  Request& second = fixture.others[0];
  Request& third = fixture.others[1];
  fixture.first.come(fixture.front(), 5s);
  second.come(fixture.front(), 5s + 20ms);
  third.come(fixture.front(), 5s + 20ms);
  CHECK(fixture.remote.questions == 4);
  // A request of another client that Redis does not answer.
  const auto time_out = [&fixture] {
    Request other({fixture.shared(fixture.narrow, 9)});
    other.come(fixture.front(), 5s + 40ms);
    fixture.remote.answer_last(epoch + 5s + 40ms, Error::timeout);
    REQUIRE(other.times == 1);
  };
  SECTION("one after the other") {
    ++fixture.remote.replied;  // to others: the store is slow, and not silent
    fixture.remote.answer(epoch + 5s + 50ms, Error::timeout);
    CHECK(fixture.first.decider() == Decider::local);
    CHECK(fixture.remote.questions == 5);
    CHECK(fixture.remote.pending.front().acquisition == &second.acquisition);
    CHECK(fixture.remote.pending.front().waited == 30ms);
    CHECK(third.waits());
    ++fixture.remote.replied;
    fixture.remote.answer(epoch + 5s + 70ms, Error::timeout);
    CHECK(second.decider() == Decider::local);
    CHECK(third.decider() == Decider::local);
    CHECK(fixture.remote.questions == 5);
  }
  SECTION("no request waits once the breaker is open") {
    time_out();
    fixture.remote.answer(epoch + 5s + 50ms, Error::timeout);
    REQUIRE(fixture.breaker() == NodeControl::State::open);
    CHECK(fixture.first.decider() == Decider::local);
    CHECK(second.decider() == Decider::local);
    CHECK(third.decider() == Decider::local);
    CHECK(fixture.remote.questions == 5);
  }
  SECTION("no request begins to wait while the breaker is open") {
    time_out();
    REQUIRE(fixture.breaker() == NodeControl::State::open);
    fixture.others[2].come(fixture.front(), 5s + 41ms);
    CHECK(fixture.others[2].decider() == Decider::local);
    fixture.remote.answer(epoch + 5s + 50ms);
    CHECK(fixture.first.denied());
    CHECK(second.denied());
    CHECK(third.denied());
  }
}

TEST_CASE("Requests of a key that was not denied lately do not wait for each other") {
  ChainFixture fixture;
  const auto wide = gcra(10);
  std::array<Request, 3> all{Request{{fixture.shared(wide)}}, Request{{fixture.shared(wide)}},
                             Request{{fixture.shared(wide)}}};
  for (auto& request : all)
    request.come(fixture.front(), 0s);
  CHECK(fixture.remote.questions == 3);
  fixture.remote.answer_all(epoch);
  for (const auto& request : all)
    CHECK(request.admitted());
}

TEST_CASE("A result at once leaves no flight") {
  Expired fixture;
  fixture.exhaust();
  fixture.remote.at_once = true;
  fixture.remote.fails_at_once = Error::refused;
  fixture.first.come(fixture.front(), 5s);
  CHECK(fixture.first.decider() == Decider::local);
  fixture.remote.at_once = false;
  fixture.others[0].come(fixture.front(), 5s);
  CHECK(fixture.remote.questions == 5);
  fixture.remote.answer(epoch + 5s);
  CHECK(fixture.others[0].denied());
}

namespace {

/// Requests whose denials are charged; the key has no units left.
struct Counted : ChainFixture {
  Counted() {
    breaker_options.failures = 9;
    for (int i = 0; i < 3; ++i)
      serve(first);
    REQUIRE(first.admitted());
    REQUIRE(remote.questions == 3);
  }
  static rules::Policy counted() {
    rules::Definition definition;
    definition.algorithm = rules::Algorithm::sliding_log;
    definition.rates = {{.count = 3, .per = 3'600s}};
    definition.count_rejected = true;
    return policy(definition);
  }
  void come() {
    first.come(front(), 1s);
    for (auto& other : others)
      other.come(front(), 1s);
    REQUIRE(remote.questions == 4);
  }
  std::uint32_t repeats() const { return remote.pending.front().acquisition->repeats; }
  /// The decision about the last of as many requests, one after the other.
  rules::Decision after(int denials) {
    StoreModel model;
    rules::Decision last;
    for (int i = 0; i < 3 + denials; ++i)
      last = ask(model, epoch, first.claims).decisions[0];
    return last;
  }

  rules::Policy limit = counted();
  Request first{{shared(limit)}};
  std::array<Request, 4> others{Request{{shared(limit)}}, Request{{shared(limit)}},
                                Request{{shared(limit)}}, Request{{shared(limit)}}};
};

}  // namespace

TEST_CASE("Denials that are charged are asked for one question at a time, and all are charged") {
  Counted fixture;
  fixture.come();
  CHECK(fixture.repeats() == 0);
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.first.denied());
  CHECK(fixture.first.decisions[0] == fixture.after(1));
  // The next one rejects the others, and no further request.
  REQUIRE(fixture.remote.questions == 5);
  CHECK(fixture.repeats() == 3);
  Request late({fixture.shared(fixture.limit)});
  late.come(fixture.front(), 1s);
  fixture.remote.answer(epoch + 1s);
  for (const auto& other : fixture.others) {
    CHECK(other.denied());
    CHECK(other.times == 1);
    CHECK(other.result->decided == 1);
    CHECK(other.decisions[0] == fixture.after(5));
  }
  CHECK(late.waits());
  CHECK(fixture.remote.questions == 6);
  CHECK(fixture.repeats() == 0);
  fixture.remote.answer(epoch + 1s);
  CHECK(late.denied());
  CHECK(late.decisions[0] == fixture.after(6));
  CHECK(fixture.remote.pending.empty());
}

TEST_CASE("If the question for several is not a denial, each of the others asks for itself") {
  Counted fixture;
  fixture.come();
  fixture.remote.answer(epoch + 1s);
  REQUIRE(fixture.repeats() == 3);
  SECTION("it is admitted") {
    fixture.remote.server.forget({.identity = fixture.first.claims[0].identity});
    fixture.remote.answer(epoch + 1s);
    CHECK(fixture.others[0].admitted());
    CHECK(fixture.remote.pending.size() == 3);
    for (const auto& asked : fixture.remote.pending)
      CHECK(asked.acquisition->repeats == 0);
    fixture.remote.answer_all(epoch + 1s);
    CHECK(fixture.others[1].admitted());
    CHECK(fixture.others[2].admitted());
    CHECK(fixture.others[3].denied());
  }
  SECTION("it is not answered") {
    fixture.remote.ready = false;
    fixture.remote.answer(epoch + 1s, Error::connection_lost);
    for (const auto& other : fixture.others)
      CHECK(other.decider() == Decider::local);
  }
  for (const auto& other : fixture.others)
    CHECK(other.times == 1);
}

TEST_CASE("Only equal requests are rejected together, and none waits for other keys") {
  Counted fixture;
  const auto wide = gcra(10);
  fixture.others[1].claims[0].demand.cost = 2;
  Request with_key({fixture.shared(fixture.limit), fixture.shared(wide, 1, 1)});
  fixture.come();
  with_key.come(fixture.front(), 1s);
  CHECK(fixture.remote.questions == 5);
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.first.denied());
  REQUIRE(fixture.remote.questions == 6);
  CHECK(fixture.remote.pending.back().acquisition->repeats == 2);
  CHECK(with_key.waits());
  fixture.remote.answer_last(epoch + 1s);
  for (const std::size_t i : {0U, 2U, 3U})
    CHECK(fixture.others[i].denied());
  CHECK(fixture.others[1].waits());
  CHECK(fixture.remote.questions == 7);
  fixture.remote.answer_all(epoch + 1s);
  CHECK(fixture.others[1].denied());
  CHECK(with_key.denied());
  CHECK(with_key.result->decided == 3);
}

// The link with its dependencies, and a next store that may fail.
struct ScarceFlight {
  /// A denial of `request` is remembered, and has expired.
  ScarceFlight() {
    known.remember(denied(), false, epoch);
    remote.writes_asked_at = true;
  }
  const Acquisition& denied() {
    request.decisions[0] = {
        .allowed = false, .limit = 3, .reset_after = 3s, .more_after = 1s, .retry_after = 1s};
    request.acquisition.asked_at = epoch;
    return request.acquisition;
  }

  FakeStore remote;
  ScarceStore next{remote};
  ChainCounters counters;
  DenialMemory memory{16, 1};
  KnownDenials known{memory, counters};
  BreakerCounters breaker_counters;
  CircuitBreaker breaker{
      remote, {.timeout = 5s, .failures = 1, .retry_after = 1s}, breaker_counters};
  SingleFlight link{next, {.memory = memory, .known = known, .remote = breaker, .timeout = 5s}};
  rules::Policy limit = gcra(3);
  Request request{{claim(limit, 1)}};
  Request second{{claim(limit, 1)}};
};

TEST_CASE("No request waits for a question for which there is no memory") {
  ScarceFlight fixture;
  fixture.next.failures = 1;
  CHECK_THROWS_AS(fixture.request.come(fixture.link, 1s), std::bad_alloc);
  CHECK(fixture.request.times == 0);
  fixture.second.come(fixture.link, 1s);
  REQUIRE(fixture.remote.questions == 1);
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.second.admitted());
  CHECK(fixture.next.completions[0] == fixture.next.completions[1]);
}

TEST_CASE("A request that waited, and then has no memory to ask, fails") {
  ScarceFlight fixture;
  fixture.request.come(fixture.link, 1s);
  fixture.second.come(fixture.link, 1s);
  REQUIRE(fixture.remote.questions == 1);
  fixture.next.failures = 1;
  fixture.remote.answer(epoch + 1s);
  CHECK(fixture.request.admitted());
  CHECK(fixture.second.times == 1);
  CHECK(fixture.second.result == Result{.error = Error::out_of_memory, .decider = Decider::local});
  fixture.second.come(fixture.link, 1s);
  CHECK(fixture.remote.questions == 2);
}

}  // namespace weir::store::test
