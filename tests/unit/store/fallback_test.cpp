// Deciding without the store that instances share.
#include "store/fallback.hpp"

#include "catch.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {
namespace {

struct FallbackFixture {
  FakeStore remote;
  MemoryStore local{{.max_keys = 1'000, .seed = 3}};
  ChainCounters counters;
  Fallback link{remote, local, 5s, counters};
  rules::Policy ten = gcra(10);
  rules::Policy one = gcra(1);

  Claim with(OnFailure on_failure, std::uint32_t policy_id = 0) {
    Claim result = shared_claim(ten, one, 1, policy_id);
    result.on_failure = on_failure;
    return result;
  }
  void fail(Request& request, Duration after = 0s) {
    request.come(link, after);
    REQUIRE(request.waits());
    remote.answer(epoch + after, Error::refused);
    REQUIRE(request.times == 1);
  }
};

}  // namespace

TEST_CASE("A store that decides is not replaced") {
  FallbackFixture fixture;
  Request request({fixture.with(OnFailure::local), fixture.with(OnFailure::deny, 1)});
  SECTION("later") {
    request.come(fixture.link, 0s);
    fixture.remote.answer(epoch);
  }
  SECTION("at once") {
    fixture.remote.at_once = true;
    request.come(fixture.link, 0s);
  }
  CHECK(request.result == Result{.admitted = true, .decider = Decider::redis, .decided = 3});
  CHECK(request.times == 1);
  CHECK(fixture.counters.alone.value() == 0);
  CHECK(fixture.local.keys() == 0);
}

TEST_CASE("local: this instance's share, by the memory store") {
  FallbackFixture fixture;
  Request request({fixture.with(OnFailure::local)});
  fixture.fail(request);
  CHECK(request.result ==
        Result{.admitted = true, .decider = Decider::local, .decided = 1, .alone = 1});
  CHECK(request.decisions[0].limit == 1);
  CHECK(request.decisions[0].refill == fixture.one.refill);
  fixture.fail(request);
  CHECK(request.denied());
  CHECK(request.decider() == Decider::local);
  CHECK(fixture.counters.alone.value() == 2);
}

TEST_CASE("local: every claim has the decision of its own place") {
  FallbackFixture fixture;
  Request request({fixture.with(OnFailure::allow), fixture.with(OnFailure::local, 1),
                   fixture.with(OnFailure::allow, 2), fixture.with(OnFailure::local, 3)});
  fixture.fail(request);
  CHECK(request.result ==
        Result{.admitted = true, .decider = Decider::local, .decided = 0b1010, .alone = 0b1010});
  CHECK(request.decisions[1].limit == 1);
  CHECK(request.decisions[3].limit == 1);
  CHECK(request.decisions[0].limit == 0);
}

TEST_CASE("allow: the policy does not limit, the others do") {
  FallbackFixture fixture;
  SECTION("alone") {
    Request request({fixture.with(OnFailure::allow)});
    for (int i = 0; i < 3; ++i) {
      fixture.fail(request);
      CHECK(request.result == Result{.admitted = true, .decider = Decider::local, .decided = 0});
    }
    CHECK(fixture.local.keys() == 0);
  }
  SECTION("beside local") {
    Request request({fixture.with(OnFailure::allow), fixture.with(OnFailure::local, 1)});
    fixture.fail(request);
    CHECK(request.admitted());
    fixture.fail(request);
    CHECK(request.denied());
    CHECK(request.result->decided == 2);
    CHECK(request.decisions[1].limit == 1);
    CHECK_FALSE(request.decisions[1].allowed);
    CHECK(fixture.local.keys() == 1);
  }
}

TEST_CASE("Requests that on_failure fails are counted by the reason, others are not") {
  FallbackFixture fixture;
  const auto undecided = [&](Error why) {
    return fixture.counters.undecided[static_cast<std::size_t>(why)].value();
  };
  Request local({fixture.with(OnFailure::local), fixture.with(OnFailure::allow, 1)});
  fixture.fail(local);
  CHECK(undecided(Error::refused) == 0);
  Request denied({fixture.with(OnFailure::deny)});
  fixture.fail(denied);
  fixture.fail(denied);
  CHECK(undecided(Error::refused) == 2);
  denied.come(fixture.link, 5s);
  CHECK(undecided(Error::refused) == 2);
}

TEST_CASE("deny: the request fails, and nothing is charged") {
  FallbackFixture fixture;
  Request request({fixture.with(OnFailure::local), fixture.with(OnFailure::deny, 1)});
  fixture.fail(request);
  CHECK(request.result == Result{.error = Error::refused, .decider = Decider::local});
  CHECK(fixture.local.keys() == 0);
  CHECK(fixture.counters.alone.value() == 1);
}

TEST_CASE("A shadow policy denies no request, whatever its on_failure") {
  FallbackFixture fixture;
  Claim shadow = fixture.with(OnFailure::deny);
  shadow.shadow = true;
  Request request({shadow});
  fixture.fail(request);
  CHECK(request.result == Result{.admitted = true, .decider = Decider::local, .decided = 0});
}

TEST_CASE("A failure at once is decided at once, and one without time left without asking") {
  FallbackFixture fixture;
  Request request({fixture.with(OnFailure::local)});
  fixture.remote.at_once = true;
  fixture.remote.fails_at_once = Error::not_connected;
  request.come(fixture.link, 0s);
  CHECK(request.admitted());
  CHECK(request.decider() == Decider::local);
  CHECK(fixture.remote.questions == 1);
  request.ask(fixture.link, 0s, 5s);
  CHECK(request.denied());
  CHECK(request.decider() == Decider::local);
  CHECK(fixture.remote.questions == 1);
  Request strict({fixture.with(OnFailure::deny)});
  strict.ask(fixture.link, 0s, 5s);
  CHECK(strict.result == Result{.error = Error::timeout, .decider = Decider::local});
}

TEST_CASE("A question for which there is no memory reaches the caller, and nothing stays in use") {
  FallbackFixture fixture;
  ScarceStore next(fixture.remote);
  next.failures = 2;
  Fallback link{next, fixture.local, 5s, fixture.counters};
  Request request({fixture.with(OnFailure::local)});
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(request.come(link, 0s), std::bad_alloc);
  request.come(link, 0s);
  fixture.remote.answer(epoch);
  CHECK(request.admitted());
  CHECK(request.times == 1);
  CHECK(next.completions == std::vector<Completion*>(3, next.completions[0]));
}

TEST_CASE("A settlement goes to the store that granted it, and forgetting to both") {
  FallbackFixture fixture;
  const std::vector<Settlement> settlements{{.key = {}, .held = 1},
                                            {.key = {}, .held = 2, .alone = true}};
  fixture.link.settle(settlements, epoch + 1s);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].held == 1);
  CHECK(fixture.local.settlements_lost() == 1);

  Request request({fixture.with(OnFailure::local)});
  fixture.fail(request);
  CHECK(fixture.local.keys() == 1);
  Received received;
  fixture.link.forget({.identity = request.claims[0].identity}, received, epoch);
  CHECK(fixture.local.keys() == 0);
  CHECK(fixture.remote.forgotten == 1);
}

}  // namespace weir::store::test
