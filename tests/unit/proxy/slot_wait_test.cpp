// The wait for a slot: admitted in turn, or ended by max_wait, a full queue, another limit, the
// client, the worker or the store. The memory store decides; the clients have no sockets.
#include "proxy/slot_wait.hpp"

#include <memory>
#include <optional>

#include "catch.hpp"
#include "limiter/waiting.hpp"
#include "rules/holds.hpp"
#include "unit/limiter/request_fixture.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {
namespace {

using namespace std::chrono_literals;

/// The memory store, which may fail when it is asked again.
class MayFail final : public store::Link {
 public:
  using Link::Link;
  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override {
    if (fails) return store::Result{.error = store::Error::timeout};
    return next_.acquire(acquisition, completion, now);
  }
  bool fails = false;
};

struct Site : limiter::test::Fixture {
  explicit Site(std::int64_t queue_places = 10, Duration max_wait = 1h) {
    rules::Definition definition;
    definition.algorithm = rules::Algorithm::concurrency;
    definition.limit = 1;
    auto slots = limiter::test::policy("slots", definition);
    slots.queue = queue_places;
    slots.max_wait = max_wait;
    limit(std::move(slots), 0);
  }
  limiter::Limiter& limits() {
    if (!made)
      made = std::make_unique<limiter::Limiter>(
          config.limiter, may_fail, store::Decider::memory, std::vector<limiter::PolicyRecord>{},
          identity::TokenReadings::Counters{}, nullptr, &queue);
    return *made;
  }
  std::int64_t queued() { return limits().counters_of(config.limiter.policies[0]).queued.value(); }

  MayFail may_fail{store};
  limiter::SlotQueue queue;
  std::unique_ptr<limiter::Limiter> made;
  store::test::FakeStore unused;
  World world{Configuration{}, unused};
};

/// A request that is decided, and waits if it is denied for lack of a slot.
class Waiting {
  Site& site_;

 public:
  explicit Waiting(Site& site) : site_(site), client(site.world.io, site.world.context.wheel) {
    const Instant now = site.world.clock.now();
    REQUIRE(site.limits().decide(evaluation_, site.routes(), answer_, now));
    if (!evaluation_.waits_for) {
      is_waiting_ = false;
      return;
    }
    loop::spawn(site.world.io, wait());
    site.world.poll();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    client.watchdog.abort();
    site_.world.run_until([&] { return !is_waiting(); });
  }

  ScriptedClient client;

  bool is_waiting() const { return is_waiting_; }
  limiter::Outcome outcome() {
    site_.world.run_until([&] { return !is_waiting(); });
    return evaluation_.verdict.outcome;
  }
  const limiter::Verdict& verdict() const { return evaluation_.verdict; }
  /// The request has ended.
  void end() {
    limiter::end(evaluation_.held, {.status = 200});
    site_.limits().count_settled(evaluation_.held);
    site_.store.settle(evaluation_.held.settlements, site_.world.clock.now());
    limiter::report_released(site_.queue, evaluation_.held);
    site_.world.poll();
  }

 private:
  loop::Task<> wait() {
    SlotWait wait({.context = site_.world.context,
                   .limiter = site_.limits(),
                   .client = client.side,
                   .evaluation = evaluation_,
                   .store_answer = answer_,
                   .asked_at = asked_at_,
                   .record = record_});
    co_await wait.run();
    is_waiting_ = false;
  }

  limiter::Evaluation evaluation_;
  StoreAnswer answer_;
  Instant asked_at_;
  DecisionRecord record_;
  bool is_waiting_ = true;
};

}  // namespace

TEST_CASE("Requests that wait for a slot get it in the order of their arrival") {
  Site site;
  Waiting first(site);
  Waiting second(site);
  Waiting third(site);
  CHECK(first.outcome() == limiter::Outcome::allowed);
  CHECK(second.is_waiting());
  CHECK(third.is_waiting());
  CHECK(site.queued() == 2);
  first.end();
  CHECK(second.outcome() == limiter::Outcome::allowed);
  CHECK(third.is_waiting());
  CHECK(site.queued() == 1);
  second.end();
  CHECK(third.outcome() == limiter::Outcome::allowed);
  CHECK(site.queued() == 0);
  CHECK(site.queue.lines() == 0);
}

TEST_CASE("A request that finds the queue full is denied at once") {
  Site site(1);
  Waiting first(site);
  Waiting second(site);
  Waiting third(site);
  CHECK(second.is_waiting());
  CHECK(third.outcome() == limiter::Outcome::denied);
  CHECK(third.verdict().retry_after == rules::hold_retry_after);
}

TEST_CASE("A request is denied after max_wait, and leaves its place") {
  Site site(1, 1ms);
  Waiting first(site);
  Waiting second(site);
  CHECK(second.outcome() == limiter::Outcome::denied);
  CHECK(site.queued() == 0);
  CHECK(site.queue.lines() == 0);
}

TEST_CASE("A client that leaves, or a worker that ends, gives up the place") {
  Site site;
  Waiting first(site);
  Waiting second(site);
  Waiting third(site);
  SECTION("the client leaves") {
    second.client.watchdog.client_left();
  }
  SECTION("the connection is aborted") {
    second.client.watchdog.abort();
  }
  CHECK(second.outcome() == limiter::Outcome::denied);
  CHECK(site.queued() == 1);
  first.end();
  CHECK(third.outcome() == limiter::Outcome::allowed);
}

TEST_CASE("A rate that is used up while a request waits denies it") {
  Site site;
  site.limit(limiter::test::policy("rate", limiter::test::gcra(2, 1h)), 0);
  Waiting first(site);
  Waiting second(site);
  Waiting third(site);
  CHECK(third.is_waiting());
  first.end();
  CHECK(second.outcome() == limiter::Outcome::allowed);
  second.end();
  CHECK(third.outcome() == limiter::Outcome::denied);
  REQUIRE(third.verdict().deciding != nullptr);
  CHECK(third.verdict().deciding->name == "rate");
}

TEST_CASE("A store that fails ends the wait") {
  Site site;
  Waiting first(site);
  Waiting second(site);
  site.may_fail.fails = true;
  first.end();
  CHECK(second.outcome() == limiter::Outcome::failed);
  CHECK(site.queue.lines() == 0);
}

}  // namespace weir::proxy::test
