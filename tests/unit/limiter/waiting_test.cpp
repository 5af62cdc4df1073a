// Which denied requests wait for a slot, and what a waiting request sees of its limits.
#include "limiter/waiting.hpp"

#include "catch.hpp"
#include "rules/holds.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

Policy slots(std::int64_t limit, std::int64_t queue) {
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::concurrency;
  definition.limit = limit;
  Policy result = policy("slots", definition);
  result.queue = queue;
  return result;
}

/// A limiter with a queue, and requests of one client whose holds the test settles.
struct QueueFixture : Fixture {
  struct Ticket final : QueueTicket {
    bool call() noexcept override { return true; }
  };

  const Verdict& decide_in(Evaluation& of, Duration after = 0s) {
    if (!limiter)
      limiter = std::make_unique<Limiter>(config.limiter, store, store::Decider::memory,
                                          std::vector<PolicyRecord>{},
                                          identity::TokenReadings::Counters{}, nullptr, &queue);
    REQUIRE(limiter->decide(of, routes(), nobody, epoch + after));
    return of.verdict;
  }
  const Verdict& ask_again(Evaluation& of, Duration after = 0s) {
    return limiter->conclude(of, *limiter->ask_again(of, false, nobody, epoch + after));
  }
  void end(Evaluation& of) {
    limiter::end(of.held, {.status = 200});
    limiter->count_settled(of.held);
    store.settle(of.held.settlements, epoch);
    report_released(queue, of.held);
  }
  void join(const Evaluation& of) { queue.join(ticket, awaited_key(of), 10, epoch); }
  ~QueueFixture() { queue.leave(ticket, SlotQueue::Leaves::denied); }

  SlotQueue queue;
  Ticket ticket;
  Evaluation first, second, third;
};

}  // namespace

TEST_CASE("a request that only holds deny waits, and is counted once") {
  QueueFixture fixture;
  fixture.limit(slots(1, 10), 0);
  CHECK(fixture.decide_in(fixture.first).outcome == Outcome::allowed);
  CHECK(fixture.decide_in(fixture.second).outcome == Outcome::denied);
  REQUIRE(fixture.second.waits_for == 0);
  CHECK(fixture.counters(0).denied.value() == 0);
  CHECK(fixture.ask_again(fixture.second).outcome == Outcome::denied);
  CHECK(fixture.second.waits_for);

  SECTION("until it is admitted") {
    fixture.end(fixture.first);
    const Verdict& verdict = fixture.ask_again(fixture.second);
    CHECK(verdict.outcome == Outcome::allowed);
    CHECK(verdict.limits.size() == 1);
    CHECK_FALSE(fixture.second.waits_for);
    CHECK(fixture.second.held.settlements.size() == 1);
    CHECK(fixture.counters(0).delayed.value() == 1);
    CHECK(fixture.counters(0).denied.value() == 0);
  }
  SECTION("until it gives up") {
    const Verdict& verdict = fixture.limiter->give_up(fixture.second, true);
    CHECK(verdict.outcome == Outcome::denied);
    REQUIRE(verdict.limits.size() == 1);
    CHECK(verdict.retry_after == rules::hold_retry_after);
    CHECK_FALSE(fixture.second.waits_for);
    CHECK(fixture.counters(0).denied.value() == 1);
  }
}

TEST_CASE("a store that fails ends the wait") {
  QueueFixture fixture;
  fixture.limit(slots(1, 10), 0);
  fixture.decide_in(fixture.first);
  fixture.decide_in(fixture.second);
  REQUIRE(fixture.second.waits_for);
  const store::Result failed{.error = store::Error::timeout, .decider = store::Decider::redis};
  CHECK(fixture.limiter->conclude(fixture.second, failed).outcome == Outcome::failed);
  CHECK_FALSE(fixture.second.waits_for);
}

TEST_CASE("without a queue, in shadow mode, or denied by a rate, a request does not wait") {
  QueueFixture fixture;
  SECTION("no queue") {
    fixture.limit(slots(1, 0), 0);
  }
  SECTION("shadow mode") {
    Policy shadow = slots(1, 10);
    shadow.shadow = true;
    fixture.limit(std::move(shadow), 0);
  }
  SECTION("denied by a rate as well") {
    fixture.limit(slots(1, 10), 0);
    fixture.limit(policy("rate", gcra(1, 1h)), 0);
  }
  fixture.decide_in(fixture.first);
  fixture.decide_in(fixture.second);
  CHECK_FALSE(fixture.second.waits_for);
}

TEST_CASE("a request waits beside a charge that requests in progress hold") {
  QueueFixture fixture;
  fixture.limit(slots(1, 10), 0);
  fixture.limit(policy("logins", gcra(1, 1h)), 0).charge =
      Charge{.by_status = ChargeByStatus{.statuses = {{401, 401}}}};
  fixture.decide_in(fixture.first);
  CHECK(fixture.decide_in(fixture.second).outcome == Outcome::denied);
  CHECK(fixture.second.waits_for == 0);
  fixture.end(fixture.first);
  CHECK(fixture.ask_again(fixture.second).outcome == Outcome::allowed);
}

TEST_CASE("a request does not overtake those that wait") {
  QueueFixture fixture;
  fixture.limit(slots(1, 10), 0);
  fixture.limit(policy("rate", gcra(2, 1h)), 0);
  fixture.decide_in(fixture.first);
  fixture.decide_in(fixture.second);
  REQUIRE(fixture.second.waits_for);
  fixture.join(fixture.second);
  fixture.end(fixture.first);

  // The slot is free, but it is that of the second request.
  const Verdict& verdict = fixture.decide_in(fixture.third);
  CHECK(verdict.outcome == Outcome::denied);
  CHECK(fixture.third.waits_for == 0);
  CHECK_FALSE(fixture.third.held_back);
  REQUIRE(verdict.limits.size() == 2);
  CHECK(verdict.limits[0].cost == 1);
  CHECK(verdict.limits[0].decision.remaining == 0);
  CHECK(verdict.limits[0].decision.retry_after == rules::hold_retry_after);
  CHECK(verdict.limits[1].decision.allowed);
  CHECK(verdict.limits[1].decision.remaining == 1);  // nothing was charged

  CHECK(fixture.ask_again(fixture.second).outcome == Outcome::allowed);
  fixture.queue.leave(fixture.ticket, SlotQueue::Leaves::admitted);
  // Now the rate denies the third one: it does not wait any more.
  fixture.end(fixture.second);
  CHECK(fixture.ask_again(fixture.third).outcome == Outcome::denied);
  CHECK_FALSE(fixture.third.waits_for);
  CHECK(fixture.counters(1).denied.value() == 1);
}

TEST_CASE("a cost above the limit never waits") {
  QueueFixture fixture;
  fixture.limit(slots(1, 10), 0);
  fixture.decide_in(fixture.first);
  fixture.decide_in(fixture.second);
  fixture.join(fixture.second);
  fixture.route.limits[0].cost = 2;
  const Verdict& verdict = fixture.decide_in(fixture.third);
  CHECK(verdict.outcome == Outcome::denied);
  CHECK_FALSE(verdict.retry_after);
  CHECK_FALSE(fixture.third.waits_for);
}

TEST_CASE("the pause between two questions") {
  CHECK(pause_after(store::Decider::memory, 7).least == Duration{0});
  CHECK(pause_after(store::Decider::memory, 7).poll == 100ms);
  for (std::uint64_t random = 0; random < 100'000; random += 997) {
    const Pause pause = pause_after(store::Decider::redis, random);
    CHECK(pause.least == 10ms);
    CHECK(pause.poll >= 10ms);
    CHECK(pause.poll < 20ms);
  }
}

}  // namespace weir::limiter::test
