// The steps of a request that waits for a slot, on a clock of the test. The memory store decides.
#include "decision/slot_wait_machine.hpp"

#include <memory>

#include "catch.hpp"
#include "limiter/waiting.hpp"
#include "rules/holds.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::decision::test {
namespace {

using namespace std::chrono_literals;
using limiter::Outcome;
using Step = SlotWaitMachine::Step;

limiter::Policy slots_policy(std::int64_t places, Duration max_wait) {
  rules::Definition definition;
  definition.algorithm = rules::Algorithm::concurrency;
  definition.limit = 1;
  limiter::Policy policy = limiter::test::policy("slots", definition);
  policy.queue = places;
  policy.max_wait = max_wait;
  return policy;
}

struct SlotSite : limiter::test::Fixture {
  explicit SlotSite(std::int64_t places = 10, Duration max_wait = 1h) {
    limit(slots_policy(places, max_wait), 0);
  }
  limiter::Limiter& limits() {
    if (!limiter)
      limiter = std::make_unique<limiter::Limiter>(
          config.limiter, store, store::Decider::memory, std::vector<limiter::PolicyRecord>{},
          identity::TokenReadings::Counters{}, nullptr, &queue);
    return *limiter;
  }
  std::int64_t queued(std::size_t policy = 0) { return counters(policy).queued.value(); }

  Instant now = limiter::test::epoch;
  limiter::SlotQueue queue;
};

/// A request, and its wait if it is denied for lack of a slot.
class Waiter final : public limiter::QueueTicket {
 public:
  explicit Waiter(SlotSite& site) : site_(site) {
    REQUIRE(site.limits().decide(evaluation, site.routes(), site.nobody, site.now));
    if (!evaluation.waits_for) return;
    machine = std::make_unique<SlotWaitMachine>(site.limits(), evaluation, *this);
    step = machine->begin(site.now);
  }
  ~Waiter() override { machine.reset(); }

  /// Carries out steps until the machine pauses for longer than now, or ends.
  void run(bool is_interrupted = false) {
    while (step != Step::end) {
      if (step == Step::pause) {
        if (machine->pause_until() > site_.now && !std::exchange(is_called, false) &&
            !is_interrupted)
          return;
        step = machine->on_pause_end(site_.now, is_interrupted);
        continue;
      }
      const bool look = step == Step::look;
      looks += look ? 1 : 0;
      const auto result = site_.limits().ask_again(evaluation, look, site_.nobody, site_.now);
      step = look ? machine->on_look(*result, site_.now, 0)
                  : machine->on_answer(*result, site_.now, 0);
    }
    machine.reset();
  }
  Outcome outcome() const { return evaluation.verdict.outcome; }
  bool waits() const { return step != Step::end; }
  /// The request has ended.
  void end() {
    limiter::end(evaluation.held, {.status = 200});
    site_.store.settle(evaluation.held.settlements, site_.now);
    limiter::report_released(site_.queue, evaluation.held);
  }

  limiter::Evaluation evaluation;
  std::unique_ptr<SlotWaitMachine> machine;
  Step step = Step::end;
  bool is_called = false;
  int looks = 0;

 private:
  bool call() noexcept override { return is_called = true; }
  SlotSite& site_;
};

}  // namespace

TEST_CASE("A request that waits is admitted in its turn") {
  SlotSite site;
  Waiter first(site), second(site), third(site);
  second.run();
  third.run();
  CHECK(first.outcome() == Outcome::allowed);
  REQUIRE(second.waits());
  REQUIRE(third.waits());
  CHECK(site.queued() == 2);
  first.end();
  CHECK_FALSE(third.is_called);
  second.run();
  third.run();
  CHECK(second.outcome() == Outcome::allowed);
  CHECK(third.waits());
  second.end();
  third.run();
  CHECK(third.outcome() == Outcome::allowed);
  CHECK(site.queued() == 0);
  CHECK(site.queue.lines() == 0);
}

TEST_CASE("A full queue, the longest wait and an interruption end the wait with the denial") {
  SlotSite site(1, 5s);
  Waiter first(site), second(site);
  second.run();
  REQUIRE(second.waits());
  SECTION("a full queue") {
    Waiter third(site);
    CHECK_FALSE(third.waits());
    CHECK(third.outcome() == Outcome::denied);
    CHECK(site.queued() == 1);
    CHECK(site.counters(0).denied.value() == 1);
  }
  SECTION("the longest wait") {
    site.now += 5s - 1us;
    second.run();
    CHECK(second.waits());
    site.now += 1us;
    second.run();
    CHECK_FALSE(second.waits());
  }
  SECTION("an interruption") {
    second.run(true);
    CHECK_FALSE(second.waits());
  }
  if (second.waits()) return;
  CHECK(second.outcome() == Outcome::denied);
  CHECK(second.evaluation.verdict.retry_after == rules::hold_retry_after);
  CHECK(site.queued() == 0);
  CHECK(site.queue.lines() == 0);
}

TEST_CASE("A request whose rate is used up meanwhile is denied") {
  SlotSite site;
  site.limit(limiter::test::policy("rate", limiter::test::gcra(2, 1h)), 0);
  Waiter first(site), second(site), third(site);
  first.end();
  second.run();
  CHECK(second.outcome() == Outcome::allowed);
  second.end();
  third.run();
  CHECK_FALSE(third.waits());
  CHECK(third.outcome() == Outcome::denied);
  CHECK(third.evaluation.verdict.deciding->name == "rate");
}

TEST_CASE("A request that another limit denies now waits in the line of that one") {
  SlotSite site;
  site.limit(slots_policy(1, 1h), 1).required = false;
  site.config.limiter.policies[1].name = "by_key";
  const auto with_key = [&site](std::string_view key, std::size_t address) {
    site.client = IpAddress::v4({192, 0, 2, static_cast<std::uint8_t>(address)});
    site.fields.clear();
    site.header("x-api-key", key);
  };
  with_key("a", 1);
  Waiter holder(site);  // the slot of address 1, and that of key a
  with_key("b", 1);
  Waiter moved(site);  // waits for the slot of address 1
  moved.run();
  REQUIRE(moved.waits());
  with_key("b", 2);
  Waiter key_holder(site);  // the slot of key b
  CHECK(key_holder.outcome() == Outcome::allowed);
  const bool is_full = GENERATE(false, true);
  with_key("b", 3);
  std::unique_ptr<Waiter> other;
  if (is_full) {
    other = std::make_unique<Waiter>(site);  // the only place in the line of key b
    other->run();
    REQUIRE(other->waits());
  }
  holder.end();
  moved.run();
  if (is_full) {
    CHECK_FALSE(moved.waits());
    CHECK(moved.outcome() == Outcome::denied);
    return;
  }
  REQUIRE(moved.waits());
  CHECK(site.queued(0) == 0);
  CHECK(site.queued(1) == 1);
  key_holder.end();
  moved.run();
  CHECK(moved.outcome() == Outcome::allowed);
}

TEST_CASE("With a limit that counts rejected requests it looks before it asks") {
  SlotSite site;
  rules::Definition counting;
  counting.algorithm = rules::Algorithm::fixed_window;
  counting.rates = {{.count = 100, .per = 1h}};
  counting.count_rejected = true;
  site.limit(limiter::test::policy("counting", counting), 0);
  Waiter first(site), second(site);
  for (int i = 0; i < 3; ++i) {
    second.run();
    site.now = second.machine->pause_until();
  }
  CHECK(second.looks >= 2);
  first.end();
  second.run();
  CHECK(second.outcome() == Outcome::allowed);
  // The first request, and the second one when it began to wait and when it was admitted.
  const auto& limits = second.evaluation.verdict.limits;
  const auto found = std::ranges::find_if(
      limits, [](const limiter::LimitVerdict& one) { return one.policy->name == "counting"; });
  REQUIRE(found != limits.end());
  CHECK(found->decision.remaining == 97);
}

}  // namespace weir::decision::test
