#include "store/leases.hpp"

#include <algorithm>
#include <deque>

#include "catch.hpp"
#include "unit/store/leases_fixture.hpp"

namespace weir::store {
namespace {

using namespace test;

TEST_CASE("requests of a hot key are decided from a lease") {
  LeasesFixture fixture;
  fixture.heat();
  // Seven requests, and one that waited for the units.
  CHECK(fixture.remote.questions == 8);
  CHECK(fixture.units->value() == 8);
  CHECK(fixture.left() == 100 - 7 - 8);
  Request next({fixture.leased()});
  next.come(fixture.front(), 1ms);
  REQUIRE(next.result);
  CHECK(next.admitted());
  CHECK(next.decider() == Decider::redis);
  CHECK(next.result->decided == 1);
  CHECK(next.decisions[0].limit == 100);
  CHECK(next.decisions[0].remaining == 100 - 7 - 2);
  CHECK(fixture.remote.questions == 8);
  CHECK(fixture.counters.leased.value() == 2);
}

TEST_CASE("half of a lease is spent: the settlement goes with the next question") {
  LeasesFixture fixture;
  fixture.heat();
  for (int i = 0; i < 3; ++i) {
    Request next({fixture.leased()});
    next.come(fixture.front(), 1ms);
    REQUIRE(next.admitted());
  }
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].held == 4);
  CHECK(fixture.remote.settled[0].actual == 4);
  fixture.settle_all();
  fixture.remote.answer_all(epoch + 1ms);
  CHECK(fixture.units->value() == 8);
  CHECK(fixture.left() == 100 - 7 - 4 - 8);
}

TEST_CASE("a lease is never larger than the share of a worker") {
  LeasesFixture fixture(50, 5);
  for (int i = 0; i < 40; ++i)
    fixture.admit({fixture.leased()}, 0s);
  CHECK(fixture.units->value() <= 10);
}

TEST_CASE("requests that arrive while a question is in flight wait for its reply") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  Request first({fixture.leased()});
  Request second({fixture.leased()});
  Request earlier({fixture.leased()});
  first.come(fixture.front(), 2ms);
  second.come(fixture.front(), 3ms);
  REQUIRE(fixture.remote.pending.size() == 1);
  CHECK(first.waits());
  CHECK(second.waits());
  // One that has less time left asks itself.
  earlier.ask(fixture.front(), 1ms, 3ms);
  CHECK(fixture.remote.pending.size() == 2);
  fixture.remote.answer(epoch + 4ms);
  CHECK(first.admitted());
  CHECK(second.admitted());
  CHECK(earlier.waits());
  fixture.remote.answer_all(epoch + 4ms);
  CHECK(earlier.admitted());
}

TEST_CASE("without a decision about the lease, waiting requests are decided one by one") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  Request first({fixture.leased()});
  Request second({fixture.leased()});
  first.come(fixture.front(), 0s);
  second.come(fixture.front(), 0s);
  fixture.remote.answer(epoch, Error::other);
  CHECK(fixture.remote.pending.size() == 2);
  fixture.remote.answer_all(epoch);
  CHECK(first.admitted());
  CHECK(second.admitted());
  CHECK(fixture.units->value() == 0);
  // No other question about it for a while.
  Request third({fixture.leased()});
  third.come(fixture.front(), 1ms);
  CHECK(fixture.remote.pending.size() == 1);
  fixture.remote.answer_all(epoch + 1ms);
  CHECK(third.times == 1);
}

TEST_CASE("an exhausted lease denies without a question") {
  LeasesFixture fixture(100);
  fixture.limit = gcra(10);
  fixture.heat();
  Request denied({fixture.leased(1, 5)});
  fixture.serve(denied, 1ms);
  CHECK(denied.denied());
  const int questions = fixture.remote.questions;
  for (int i = 0; i < 20; ++i) {
    Request next({fixture.leased(1, 5)});
    next.come(fixture.front(), 2ms);
    REQUIRE(next.result);
    CHECK(next.denied());
    CHECK(next.decisions[0].retry_after.value() > Duration{0});
  }
  CHECK(fixture.remote.questions <= questions + 1);
}

TEST_CASE("a request is decided here if the leases of all its keys cover it") {
  LeasesFixture fixture;
  for (std::uint32_t i = 0; i < Lease::hot_requests + 2; ++i)
    fixture.admit({fixture.leased(1), fixture.leased(2)}, 0s);
  Request both({fixture.leased(1), fixture.leased(2)});
  both.come(fixture.front(), 1ms);
  CHECK(both.admitted());
  CHECK(both.result->decided == 3);
  fixture.settle_all();
  fixture.remote.answer_all(epoch + 1ms);
  // A key that is not hot is for the remote store, and takes no unit of the other.
  const std::int64_t before = fixture.left(1);
  Request mixed({fixture.leased(1), fixture.leased(3)});
  fixture.serve(mixed, 1ms);
  CHECK(mixed.admitted());
  CHECK(fixture.left(1) == before - 1);
}

TEST_CASE("a key is leased only for requests that the leases of all their keys may decide") {
  LeasesFixture fixture(10);
  const rules::Policy small = gcra(20);  // a share of two units
  Claim few = fixture.leased(1, 1, 1);
  few.policy = &small;
  SECTION("beside a key whose share is too small") {
    for (int i = 0; i < 15; ++i)
      fixture.admit({fixture.leased(1), few}, 0s);
  }
  SECTION("beside keys that are not hot") {
    for (std::uint64_t who = 2; who < 30; ++who)
      fixture.admit({fixture.leased(1), fixture.leased(who)}, 0s);
  }
  CHECK(fixture.units->value() == 0);
  CHECK(fixture.counters.leased.value() == 0);
}

TEST_CASE("a request that needs more than is left of the lease causes a question") {
  LeasesFixture fixture;
  fixture.heat();
  Request large({fixture.leased(1, 9)});
  large.come(fixture.front(), 1ms);
  CHECK(large.waits());
  CHECK(fixture.remote.pending.size() == 1);
  fixture.settle_all();
  fixture.remote.answer(epoch + 1ms);
  CHECK(large.admitted());
  CHECK(fixture.remote.pending.empty());
}

TEST_CASE("requests beyond the first question share a second one") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  std::deque<Request> requests;
  for (int i = 0; i < 30; ++i)
    requests.emplace_back(std::vector{fixture.leased()}).come(fixture.front(), 0s);
  REQUIRE(fixture.remote.pending.size() == 1);
  fixture.remote.answer(epoch);
  REQUIRE(fixture.remote.pending.size() == 1);
  fixture.settle_all();
  fixture.remote.answer(epoch);
  CHECK(fixture.remote.pending.empty());
  CHECK(std::ranges::all_of(requests, &Request::admitted));
}

TEST_CASE("a question that fails is repeated before the lease ends") {
  LeasesFixture fixture;
  fixture.heat();
  const auto renew = [&](Duration after) {
    Request next({fixture.leased()});
    next.come(fixture.front(), after);
    CHECK(next.admitted());
  };
  renew(100ms);
  REQUIRE(fixture.remote.pending.size() == 1);
  fixture.remote.answer(epoch + 120ms, Error::other);
  renew(130ms);
  CHECK(fixture.remote.pending.empty());
  renew(146ms);
  REQUIRE(fixture.remote.pending.size() == 1);
  fixture.settle_all();
  fixture.remote.answer(epoch + 147ms);
  renew(250ms);
}

TEST_CASE("a grant that comes after its end goes back, and no question follows for a while") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  Request last({fixture.leased()});
  last.come(fixture.front(), 0s);
  fixture.remote.answer(epoch + 200ms);
  CHECK(fixture.units->value() == 0);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].actual == 0);
  CHECK(fixture.remote.pending.size() == 1);  // the request itself
  fixture.remote.answer_all(epoch + 200ms);
  CHECK(last.admitted());
}

TEST_CASE("an exhausted shadow claim does not deny, and a denied request spends nothing") {
  LeasesFixture fixture(100);
  const rules::Policy small = gcra(10);
  const auto claims = [&](bool shadow) {
    Claim few = fixture.leased(1, 1, 1);
    few.policy = &small;
    few.shadow = shadow;
    return std::vector{fixture.leased(), few};
  };
  for (int i = 0; i < 9; ++i) {
    fixture.admit(claims(false), 0s);
    fixture.settle_all();
  }
  std::optional<Request> denied;
  for (int i = 0; i < 5; ++i) {
    fixture.serve(denied.emplace(claims(false)), 1ms);
    fixture.settle_all();
  }
  REQUIRE(denied->denied());
  const auto decided = fixture.counters.leased.value();
  const std::int64_t left = denied->decisions[0].remaining;
  Request again(claims(false));
  again.come(fixture.front(), 2ms);
  CHECK(again.denied());
  CHECK(again.result->decided == 3);
  CHECK(again.decisions[0].allowed);
  CHECK(again.decisions[0].remaining == left);
  Request shadowed(claims(true));
  shadowed.come(fixture.front(), 2ms);
  CHECK(shadowed.admitted());
  CHECK_FALSE(shadowed.decisions[1].allowed);
  CHECK(shadowed.decisions[0].remaining == left - 1);
  CHECK(fixture.counters.leased.value() == decided + 2);
}

TEST_CASE("a claim without a lease is never decided from one") {
  LeasesFixture fixture;
  fixture.heat();
  Claim plain = fixture.leased();
  plain.lease = nullptr;
  Request request({plain});
  request.come(fixture.front(), 1ms);
  CHECK(request.waits());
  fixture.remote.answer_all(epoch + 1ms);
}

TEST_CASE("units go back when the key is idle, and when leases end") {
  LeasesFixture fixture;
  fixture.heat();
  SECTION("idle") {
    fixture.chain().leases().tick(epoch + 100ms);
    CHECK(fixture.remote.settled.empty());
    fixture.chain().leases().tick(epoch + 200ms);
  }
  SECTION("ended") {
    fixture.chain().leases().use({}, epoch + 1ms);
  }
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].held == 8);
  CHECK(fixture.remote.settled[0].actual == 1);
  CHECK(fixture.units->value() == 0);
  fixture.settle_all();
  CHECK(fixture.left() == 100 - 8);
}

TEST_CASE("units of a question that is answered after the end go back at once") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  Request last({fixture.leased()});
  last.come(fixture.front(), 0s);
  CHECK(fixture.chain().leases().is_asking());
  fixture.chain().leases().use({}, epoch);
  fixture.remote.answer(epoch);
  CHECK_FALSE(fixture.chain().leases().is_asking());
  CHECK(fixture.units->value() == 0);
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].held == 8);
  fixture.settle_all();
  fixture.remote.answer_all(epoch);
  CHECK(last.admitted());
  CHECK(fixture.left() == 100 - 8);
}

TEST_CASE("a key that is reset has no lease") {
  LeasesFixture fixture;
  fixture.heat();
  Received received;
  fixture.front().forget({.identity = fixture.leased().identity}, received, epoch);
  fixture.remote.answer_all(epoch);
  CHECK(fixture.units->value() == 0);
  // Counts if the key was not removed, because the remote store could not be reached.
  CHECK(fixture.remote.settled.size() == 1);
  CHECK(fixture.left() == 100);
  Request next({fixture.leased()});
  next.come(fixture.front(), 1ms);
  CHECK(next.waits());
  fixture.remote.answer_all(epoch + 1ms);
  CHECK(next.admitted());
}

TEST_CASE("the reply to a question before a reset is not used") {
  LeasesFixture fixture;
  for (std::uint32_t i = 1; i < Lease::hot_requests; ++i)
    fixture.admit({fixture.leased()}, 0s);
  Request last({fixture.leased()});
  last.come(fixture.front(), 0s);
  Received received;
  fixture.front().forget({.identity = fixture.leased().identity}, received, epoch);
  fixture.remote.answer(epoch);
  CHECK(fixture.units->value() == 0);
  // It was decided after the reset. What it has taken goes back.
  REQUIRE(fixture.remote.settled.size() == 1);
  CHECK(fixture.remote.settled[0].held == 8);
  CHECK(fixture.remote.settled[0].actual == 0);
  fixture.settle_all();
  fixture.remote.answer_all(epoch);
  CHECK(last.admitted());
  CHECK(fixture.left() == 100 - 1);
}

TEST_CASE("an override of the key ends the lease with the next question") {
  LeasesFixture fixture;
  fixture.heat();
  const Hash128 identity = fixture.leased().identity;
  OverrideTable& overrides = fixture.remote.server.overrides();
  const auto ask_again = [&] {
    for (int i = 0; i < 3; ++i) {
      Request next({fixture.leased()});
      next.come(fixture.front(), 1ms);
      CHECK(next.admitted());
    }
    fixture.settle_all();
    REQUIRE(fixture.remote.pending.size() == 1);
    fixture.remote.answer(epoch + 1ms);
    fixture.settle_all();
  };
  SECTION("with another limit") {
    overrides.put(identity, {.numbers = gcra(50)}, epoch, [](const auto&) {});
    ask_again();
    CHECK(fixture.units->value() == 0);
    // The next lease is of the limit in force.
    for (int i = 0; i < 40; ++i) {
      Request next({fixture.leased()});
      fixture.serve(next, 2ms);
      fixture.settle_all();
      CHECK(fixture.units->value() <= 25);
    }
    CHECK(fixture.units->value() > 0);
  }
  SECTION("that denies") {
    overrides.put(identity, {.kind = Override::Kind::denied}, epoch, [](const auto&) {});
    ask_again();
    CHECK(fixture.units->value() == 0);
    Request next({fixture.leased()});
    fixture.serve(next, 2ms);
    CHECK(next.denied());
    CHECK(next.decisions[0].override_effect == rules::OverrideEffect::denied);
  }
}

TEST_CASE("a policy of another revision has another lease") {
  LeasesFixture fixture;
  fixture.heat();
  Claim changed = fixture.leased();
  changed.policy_revision = 1;
  Request request({changed});
  request.come(fixture.front(), 1ms);
  CHECK(request.waits());
  fixture.remote.answer_all(epoch + 1ms);
  CHECK(fixture.units->value() == 8);
  fixture.chain().leases().tick(epoch + 300ms);
  CHECK(fixture.units->value() == 0);
}

TEST_CASE("while the remote store does not answer, a lease decides until its end") {
  LeasesFixture fixture;
  fixture.heat();
  fixture.remote.ready = false;
  Request covered({fixture.leased()});
  covered.come(fixture.front(), 199ms);
  CHECK(covered.admitted());
  CHECK(covered.decider() == Decider::redis);
  Request later({fixture.leased()});
  later.come(fixture.front(), 200ms);
  REQUIRE(later.result);
  CHECK(later.decider() == Decider::local);
}

TEST_CASE("a refund goes to the lease of its key, and the rest of it to the store") {
  LeasesFixture fixture;
  fixture.heat();
  Request next({fixture.leased()});
  next.come(fixture.front(), 1ms);  // two units are spent
  REQUIRE(next.admitted());
  const auto refund = [&](std::uint64_t who, std::int64_t units) {
    const Settlement one{.policy = &fixture.limit,
                         .key = {.identity = fixture.leased(who).identity},
                         .actual = -units};
    fixture.front().settle({&one, 1}, epoch + 1ms);
    REQUIRE_FALSE(fixture.remote.settled.empty());
    return -fixture.remote.settled.back().actual;
  };
  CHECK(refund(1, 1) == 0);
  CHECK(refund(1, 5) == 4);
  CHECK(refund(2, 3) == 3);
}

}  // namespace
}  // namespace weir::store
