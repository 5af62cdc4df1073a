#include "limiter/quota_events.hpp"

#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "catch.hpp"
#include "rules/span.hpp"
#include "seed.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

using rules::Algorithm;

rules::Definition definition_of(Algorithm algorithm, std::int64_t count, Duration per) {
  rules::Definition definition = gcra(count, per);
  definition.algorithm = algorithm;
  return definition;
}

rules::Definition window_of(std::int64_t count, Duration per) {
  return definition_of(Algorithm::fixed_window, count, per);
}

Policy slots_of(std::int64_t limit) {
  rules::Definition definition;
  definition.algorithm = Algorithm::concurrency;
  definition.limit = limit;
  return policy("slots", definition);
}

/// Decides requests of clients and raises their events at 80 and 100 %.
struct Watched : Fixture {
  Outcome send(Duration at = 0s) {
    now = epoch + at;
    const Verdict verdict = decide(at);
    raise_events(verdict, percents, {.limiter = *limiter, .ids = ids, .asked_at = now}, events);
    return verdict.outcome;
  }
  /// The percentages of the events since the last call.
  std::vector<int> taken() {
    std::vector<int> all;
    for (const QuotaEvent& event : events.take())
      all.push_back(event.percent);
    return all;
  }

  std::vector<int> percents{80, 100};
  NameIds ids{};
  QuotaEvents events{7};
  Instant now{};
};

QuotaEvent event_of(std::uint64_t key, Duration length, Instant at) {
  return {.key = {.identity = {.low = key, .high = 1}, .policy_id = 2},
          .percent = 80,
          .used = 8,
          .limit = 10,
          .at = at,
          .window = {.ends_at = at + length, .earlier_until = at}};
}

std::uint64_t count_of(const QuotaEvents& events, EventResult result) {
  return events.counts(2, 80)[static_cast<std::size_t>(result)];
}

}  // namespace

TEST_CASE("a percentage is reached while the use is not below it") {
  struct Row {
    std::int64_t limit;
    std::int64_t remaining;
    int percent;
    bool is_reached;
  };
  const Policy plain = policy("p", gcra(10, 1s));
  for (const Row& row : {
           Row{10, 3, 80, false},
           Row{10, 2, 80, true},
           Row{10, 1, 80, true},
           Row{10, 1, 100, false},
           Row{10, 0, 100, true},
           Row{3, 1, 80, false},  // 66 %
           Row{3, 0, 80, true},
           Row{0, 0, 80, false},    // the store has not decided
           Row{10, -5, 100, true},  // a debt
           Row{10, 12, 1, false},
           Row{rules::exact_limit, 0, 100, true},
           Row{rules::exact_limit, 1, 100, false},
       }) {
    CAPTURE(row.limit, row.remaining, row.percent);
    LimitVerdict limit{.policy = &plain, .terms = &plain, .identity = {}};
    limit.decision = {.limit = row.limit, .remaining = row.remaining};
    CHECK(is_reached(limit, row.percent) == row.is_reached);
  }
}

TEST_CASE("identities that an override exempts or denies have no events") {
  const Policy plain = policy("p", gcra(10, 1s));
  LimitVerdict limit{.policy = &plain, .terms = &plain, .identity = {}};
  limit.decision = {.allowed = true, .limit = 10, .remaining = 2};
  CHECK(is_reached(limit, 80));
  for (const auto effect : {rules::OverrideEffect::unlimited, rules::OverrideEffect::denied}) {
    limit.decision.override_effect = effect;
    CHECK_FALSE(is_reached(limit, 80));
  }
}

TEST_CASE("the window of each algorithm") {
  struct Row {
    Algorithm algorithm;
    Duration ends_after;
    Duration earlier_until;
  };
  for (const Row& row : {
           // The window of the key: ends within half its length of each other are one.
           Row{Algorithm::fixed_window, 7s, 2s}, Row{Algorithm::attributed_window, 7s, 2s},
           // From the event on, the time in which the quota refills.
           Row{Algorithm::sliding_window, 10s, 0s}, Row{Algorithm::sliding_log, 10s, 0s},
           Row{Algorithm::token_bucket, 10s, 0s}, Row{Algorithm::gcra, 10s, 0s},
           Row{Algorithm::leaky_bucket, 1s, 0s},  // a queue of 0: one unit
       }) {
    CAPTURE(rules::to_string(row.algorithm));
    const Policy plain = policy("p", definition_of(row.algorithm, 10, 10s));
    LimitVerdict limit{.policy = &plain, .terms = &plain, .identity = {}};
    limit.decision = {.limit = 10, .remaining = 2, .reset_after = 7s};
    CHECK(event_window(limit, epoch) == EventWindow{.ends_at = epoch + row.ends_after,
                                                    .earlier_until = epoch + row.earlier_until});
  }
  const Policy slots = slots_of(10);
  const LimitVerdict limit{.policy = &slots, .terms = &slots, .identity = {}};
  CHECK(event_window(limit, epoch) ==
        EventWindow{.ends_at = epoch + slot_event_window, .earlier_until = epoch});
}

TEST_CASE("the window follows the numbers in force") {
  const Policy plain = policy("p", gcra(10, 10s));
  LimitVerdict limit{.policy = &plain, .terms = &plain, .identity = {}};
  limit.decision = {.limit = 100, .remaining = 0, .refill = Duration{30s}};
  CHECK(event_window(limit, epoch).ends_at == epoch + 30s);
}

TEST_CASE("each percentage is raised once in a window, with its numbers") {
  Watched watched;
  watched.ids.identities = {5, 6, 7};
  watched.limit(policy("daily", window_of(10, 100s)), 0);
  for (int i = 0; i < 7; ++i)
    CHECK(watched.send() == Outcome::allowed);
  CHECK(watched.taken().empty());
  CHECK(watched.events.is_unused());
  watched.send(10s);
  const auto events = watched.events.take();
  REQUIRE(events.size() == 1);
  CHECK(events[0].percent == 80);
  CHECK(events[0].identity_id == 5);
  CHECK(events[0].used == 8);
  CHECK(events[0].limit == 10);
  CHECK(events[0].whole_after == 90s);
  CHECK(events[0].at == epoch + 10s);
  CHECK_FALSE(events[0].counts_slots);
  for (int i = 0; i < 5; ++i)
    watched.send(20s);
  CHECK(watched.taken() == std::vector{100});
  for (int i = 0; i < 12; ++i)
    watched.send(100s);
  CHECK(watched.taken() == std::vector{80, 100});
}

TEST_CASE("a quota that is lowered below the use raises its events with the next request") {
  Watched watched;
  watched.limit(policy("daily", window_of(10, 100s)), 0);
  for (int i = 0; i < 5; ++i)
    watched.send();
  CHECK(watched.taken().empty());
  watched.config.limiter.policies[0].numbers = rules::compile(window_of(5, 100s)).value();
  CHECK(watched.send(1s) == Outcome::denied);
  CHECK(watched.taken() == std::vector{80, 100});
}

TEST_CASE("a key that refills around a percentage raises it once in the time of its quota") {
  Watched watched;
  watched.limit(policy("smooth", gcra(10, 10s)), 0);
  for (int i = 0; i < 8; ++i)
    watched.send();
  CHECK(watched.taken() == std::vector{80});
  for (int i = 1; i < 10; ++i)  // from 70 % to 80 % each time
    watched.send(i * 1s);
  CHECK(watched.taken().empty());
  watched.send(10s);
  CHECK(watched.taken() == std::vector{80});
}

TEST_CASE("a key that stays at its limit raises its events again in each time of its quota") {
  Watched watched;
  watched.limit(policy("smooth", gcra(10, 10s)), 0);
  std::vector<Duration> at;
  for (int i = 0; i < 400; ++i) {
    watched.send(i * 100ms);
    if (!watched.taken().empty()) at.push_back(i * 100ms);
  }
  CHECK(at == std::vector<Duration>{700ms, 900ms, 10'700ms, 10'900ms, 20'700ms, 20'900ms, 30'700ms,
                                    30'900ms});
}

TEST_CASE("random histories of all algorithms agree with a model that remembers every event") {
  const TestSeed seed;
  Random random(static_cast<std::uint32_t>(seed));
  for (int history = 0; history < 40; ++history) {
    Watched watched;
    const auto algorithm = static_cast<Algorithm>(random.next() % (rules::algorithm_count - 1));
    CAPTURE(rules::to_string(algorithm));
    const bool is_fixed =
        algorithm == Algorithm::fixed_window || algorithm == Algorithm::attributed_window;
    auto definition =
        definition_of(algorithm, static_cast<std::int64_t>(1 + random.next() % 50), 10s);
    if (algorithm == Algorithm::leaky_bucket) definition.queue = 20;
    watched.limit(policy("p", definition), 0).cost =
        static_cast<std::int64_t>(1 + random.next() % 4);
    const Duration length = watched.config.limiter.policies[0].numbers.refill;
    std::map<std::pair<std::uint8_t, int>, Instant> ends;  // of the last event's window
    Duration at{0};
    for (int i = 0; i < 400; ++i) {
      at += Duration{static_cast<std::int64_t>(random.next() % 200'000)};
      const auto client = static_cast<std::uint8_t>(random.next() % 3);
      watched.client = IpAddress::v4({192, 0, 2, client});
      watched.send(at);
      std::vector<int> expected;
      const rules::Decision& decision = watched.evaluation.limits.at(0).decision;
      const std::int64_t used = decision.limit - std::max<std::int64_t>(decision.remaining, 0);
      for (const int percent : watched.percents) {
        if (used * 100 < decision.limit * percent) continue;
        Instant& end = ends[{client, percent}];
        if (end > watched.now) continue;
        expected.push_back(percent);
        end = watched.now + (is_fixed ? decision.reset_after : length);
      }
      REQUIRE(watched.taken() == expected);
    }
  }
}

TEST_CASE("ends of one window that are not read exactly are the same window") {
  QuotaEvents events(3);
  const auto raise = [&](Instant ends_at) {
    QuotaEvent event = event_of(1, 10s, epoch);
    event.window = {.ends_at = ends_at, .earlier_until = ends_at - 5s};
    events.raise(event);
    return events.take().size();
  };
  CHECK(raise(epoch + 10s) == 1);
  CHECK(raise(epoch + 10s - 20ms) == 0);
  CHECK(raise(epoch + 10s + 20ms) == 0);
  CHECK(raise(epoch + 20s - 20ms) == 1);
  CHECK(raise(epoch + 20s) == 0);
}

TEST_CASE("a key that was reset raises its events again") {
  Watched watched;
  watched.limit(policy("daily", window_of(10, 100s)), 0);
  const auto fill = [&](std::uint8_t client) {
    watched.client = IpAddress::v4({192, 0, 2, client});
    for (int i = 0; i < 10; ++i)
      watched.send(1s);
    return watched.taken();
  };
  CHECK(fill(1) == std::vector{80, 100});
  const store::Key key{.identity = watched.evaluation.limits.at(0).identity, .policy_id = 0};
  CHECK(fill(2) == std::vector{80, 100});
  CHECK(fill(1).empty());
  watched.events.forget(key);
  CHECK(fill(1) == std::vector{80, 100});
  CHECK(fill(2).empty());
  watched.events.forget_all();
  CHECK(fill(2) == std::vector{80, 100});
  CHECK(fill(1) == std::vector{80, 100});
}

TEST_CASE("an event of another instance lasts until the end of its window") {
  QuotaEvents events(3);
  const QuotaEvent event = event_of(1, 10s, epoch);
  events.raise(event);
  events.adopt(event, epoch + 4s);
  CHECK(events.take().size() == 1);
  events.raise(event_of(1, 10s, epoch + 4s - 1us));
  CHECK(events.take().empty());
  events.raise(event_of(1, 10s, epoch + 4s));
  CHECK(events.take().size() == 1);
}

TEST_CASE("many keys have their events once, and those without room for a mark are dropped") {
  QuotaEvents events(7);
  const auto raise_all = [&](std::uint64_t keys, Instant at) {
    std::size_t raised = 0;
    for (std::uint64_t key = 0; key < keys; ++key) {
      events.raise(event_of(key, 100s, at));
      raised += events.take().size();
    }
    return raised;
  };
  constexpr std::uint64_t many = 10'000;
  constexpr std::uint64_t too_many = 4 * QuotaEvents::sets * QuotaEvents::entries_per_set;
  CHECK(raise_all(many, epoch) == many);
  CHECK(raise_all(many, epoch + 1s) == 0);
  CHECK(count_of(events, EventResult::dropped) == 0);
  const std::size_t raised = raise_all(too_many, epoch + 2s);
  CHECK(count_of(events, EventResult::dropped) == too_many - many - raised);
  CHECK(raise_all(many, epoch + 3s) == 0);
  CHECK(raise_all(many, epoch + 200s) == many);  // the windows have ended
}

TEST_CASE("events that nobody takes are bounded, and those beyond are counted") {
  QuotaEvents events(3);
  constexpr std::uint64_t more = 5;
  for (std::uint64_t key = 0; key < QuotaEvents::most_pending + more; ++key)
    events.raise(event_of(key, 10s, epoch));
  CHECK(count_of(events, EventResult::dropped) == more);
  const auto taken = events.take(3);
  REQUIRE(taken.size() == 3);
  CHECK(taken[2].key.identity.low == 2);
  const auto others = events.take();
  REQUIRE(others.size() == QuotaEvents::most_pending - 3);
  CHECK(others.back().key.identity.low == QuotaEvents::most_pending - 1);
  CHECK(events.take().empty());
  events.raise(event_of(1, 10s, epoch + 9s));
  CHECK(events.take().empty());
  CHECK(count_of(events, EventResult::dropped) == more);
}

TEST_CASE("results are counted by policy and percentage") {
  QuotaEvents events(3);
  const QuotaEvent event = event_of(1, 10s, epoch);
  events.count(event, EventResult::logged);
  events.count(event, EventResult::logged);
  events.count(event, EventResult::elsewhere);
  CHECK(events.counts(2, 80) == EventCounts{2, 1, 0});
  CHECK(events.counts(2, 100) == EventCounts{});
  CHECK(events.counts(3, 80) == EventCounts{});
}

TEST_CASE("of workers that raise the same events at the same time one does") {
  QuotaEvents events(3);
  constexpr std::uint64_t keys = 500;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&events] {
      for (std::uint64_t key = 0; key < keys; ++key)
        events.raise(event_of(key, 10s, epoch));
    });
  }
  for (std::thread& worker : workers)
    worker.join();
  CHECK(events.take().size() == keys);
}

}  // namespace weir::limiter::test
