// The first link of the chain, before a store that counts what reaches it.
#include "store/denials.hpp"

#include "catch.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

struct DenialsFixture {
  DenialsFixture() { remote.writes_asked_at = true; }

  /// Through to the result, which arrives `answered` later if Redis is asked.
  void serve(Request& request, Duration after, Duration answered = 0s, Error error = Error::none) {
    request.come(link, after);
    if (request.waits()) remote.answer(epoch + after + answered, error);
    REQUIRE(request.times == 1);
  }

  FakeStore remote;
  ChainCounters counters;
  DenialMemory memory{1, 1};  // four entries
  KnownDenials known{memory, counters};
  Denials link{remote, known};
  rules::Policy one = gcra(1);
  rules::Policy ten = gcra(10);
};

}  // namespace

TEST_CASE("A denial of Redis is repeated without asking, and counted") {
  DenialsFixture fixture;
  fixture.remote.at_once = GENERATE(false, true);
  Request request({claim(fixture.one, 1)});
  fixture.serve(request, 0s);
  CHECK(request.admitted());
  // The admission left nothing, so the denial is known before Redis is asked again.
  fixture.serve(request, 1s);
  CHECK(request.result == Result{.decider = Decider::redis, .decided = 1});
  CHECK(request.decisions[0].retry_after == 3'599s);
  CHECK(fixture.remote.questions == 1);
  CHECK(fixture.counters.remembered.value() == 1);
  Request other({claim(fixture.one, 2)});
  fixture.serve(other, 1s);
  CHECK(other.admitted());
  CHECK(fixture.remote.questions == 2);
}

TEST_CASE("A denial expires at the instant at which Redis may admit") {
  DenialsFixture fixture;
  const auto quick = gcra(1, 100ms);
  Request request({claim(quick, 1)});
  fixture.serve(request, 1s, 30ms);
  fixture.serve(request, 1'099'999us);
  CHECK(request.denied());
  CHECK(fixture.remote.questions == 1);
  fixture.remote.server_now += 100ms;
  fixture.serve(request, 1'100ms);
  CHECK(request.admitted());
  CHECK(fixture.remote.questions == 2);
}

TEST_CASE("An answer that arrives after asked_at + retry_after denies no later request") {
  DenialsFixture fixture;
  const auto quick = gcra(1, 100ms);
  Request request({claim(quick, 1)});
  fixture.serve(request, 0s);
  Request late({claim(quick, 1)});
  fixture.serve(late, 100ms, 100ms);
  CHECK(late.denied());
  CHECK(late.decisions[0].retry_after == 100ms);
  fixture.serve(request, 200ms);
  CHECK(fixture.remote.questions == 3);
}

TEST_CASE("Only a decision of Redis is remembered") {
  DenialsFixture fixture;
  Request request({claim(fixture.one, 1)});
  SECTION("an error") {
    fixture.serve(request, 0s, 0s, Error::timeout);
    CHECK(request.result->error == Error::timeout);
  }
  SECTION("a decision of this instance alone") {
    request.come(fixture.link, 0s);
    request.decisions[0] = {.allowed = false, .limit = 1, .retry_after = 1h};
    fixture.remote.pending.front().completion->complete({.decider = Decider::local, .decided = 1},
                                                        epoch);
    fixture.remote.pending.clear();
    CHECK(request.denied());
  }
  fixture.serve(request, 0s);
  CHECK(request.admitted());
  CHECK(fixture.remote.questions == 2);
}

TEST_CASE("A denial by one of two policies decides for both") {
  DenialsFixture fixture;
  Request both({claim(fixture.ten, 1, 1, 0), claim(fixture.one, 1, 1, 1)});
  fixture.serve(both, 0s);
  fixture.serve(both, 1s);
  CHECK(both.result == Result{.decider = Decider::redis, .decided = 3});
  CHECK(both.decisions[0].allowed);
  CHECK(both.decisions[0].remaining == 9);
  CHECK_FALSE(both.decisions[1].allowed);
  CHECK(fixture.remote.questions == 1);
  Request first({claim(fixture.ten, 1, 1, 0)});
  fixture.serve(first, 1s);
  CHECK(first.admitted());
  CHECK(fixture.remote.questions == 2);
}

TEST_CASE("A key that is forgotten is asked for again, and removed from the next store") {
  DenialsFixture fixture;
  Request request({claim(fixture.one, 1)});
  Request other({claim(fixture.one, 2)});
  fixture.serve(request, 0s);
  fixture.serve(other, 0s);
  Received received;
  CHECK_FALSE(fixture.link.forget({.identity = request.claims[0].identity}, received, epoch));
  fixture.remote.answer(epoch);
  CHECK(received.times == 1);
  CHECK(fixture.remote.forgotten == 1);
  fixture.serve(request, 0s);
  CHECK(request.admitted());
  CHECK(fixture.remote.questions == 3);
  fixture.serve(other, 0s);
  CHECK(other.denied());
  CHECK(fixture.remote.questions == 3);
}

TEST_CASE("With more keys than entries the first to expire is asked for again") {
  DenialsFixture fixture;

  for (std::uint64_t who = 1; who <= 5; ++who) {
    Request request({claim(fixture.one, who)});
    fixture.serve(request, Duration{static_cast<std::int64_t>(who)});
  }
  REQUIRE(fixture.remote.questions == 5);
  for (std::uint64_t who = 2; who <= 5; ++who) {
    Request request({claim(fixture.one, who)});
    fixture.serve(request, 1s);
    CHECK(request.denied());
  }
  CHECK(fixture.remote.questions == 5);
  Request first({claim(fixture.one, 1)});
  fixture.serve(first, 1s);
  CHECK(first.denied());
  CHECK(fixture.remote.questions == 6);
}

TEST_CASE("An exception of the next store reaches the caller, and nothing stays in use") {
  DenialsFixture fixture;
  ScarceStore next(fixture.remote);
  next.failures = 2;
  Denials link(next, fixture.known);
  Request request({claim(fixture.one, 1)});
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(request.come(link, 0s), std::bad_alloc);
    CHECK(request.times == 0);
  }
  request.come(link, 0s);
  fixture.remote.answer(epoch);
  CHECK(request.admitted());
  CHECK(request.times == 1);
  // Each request was forwarded with the same object.
  CHECK(next.completions == std::vector<Completion*>(3, next.completions[0]));
}

TEST_CASE("Peeks and settlements go to the next store") {
  DenialsFixture fixture;
  Request request({claim(fixture.one, 1)});
  fixture.serve(request, 0s);
  CHECK_FALSE(fixture.link.peek(request.acquisition, request, epoch).has_value());
  CHECK(fixture.remote.peeks == 1);
  const std::vector<Settlement> settlements{{.key = {}, .held = 3}};
  fixture.link.settle(settlements, epoch + 1s);
  CHECK(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled_at == epoch + 1s);
}

}  // namespace weir::store::test
