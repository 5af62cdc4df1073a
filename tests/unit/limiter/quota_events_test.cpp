#include "limiter/quota_events.hpp"

#include <map>
#include <set>

#include "base/random.hpp"
#include "catch.hpp"
#include "rules/span.hpp"
#include "seed.hpp"
#include "unit/limiter/request_fixture.hpp"

namespace weir::limiter::test {
namespace {

rules::Definition window_of(std::int64_t count, Duration per) {
  rules::Definition definition = gcra(count, per);
  definition.algorithm = rules::Algorithm::fixed_window;
  return definition;
}

/// Decides requests of clients and raises their events at 80 and 100 %.
struct Watched : Fixture {
  Outcome send(Duration at = 0s) {
    now = epoch + at;
    const Verdict verdict = decide(at);
    raise_events(verdict, percents, *limiter, now, events);
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
  QuotaEvents events{7};
  Instant now{};
};

QuotaEvent event_of(std::uint64_t key, Duration whole_after, Instant at) {
  return {.key = {.identity = {.low = key, .high = 1}, .policy_id = 2},
          .percent = 80,
          .used = 8,
          .limit = 10,
          .whole_after = whole_after,
          .at = at};
}

}  // namespace

TEST_CASE("a decision reaches a percentage if it takes the use to it") {
  struct Row {
    std::int64_t limit;
    std::int64_t remaining;
    std::int64_t cost;
    bool allowed;
    int percent;
    bool reaches;
  };
  const Policy plain = policy("p", gcra(10, 1s));
  for (const Row& row : {
           Row{10, 3, 1, true, 80, false},  // 70 %
           Row{10, 2, 1, true, 80, true},   // 70 % -> 80 %
           Row{10, 1, 1, true, 80, false},  // 80 % -> 90 %
           Row{10, 1, 2, true, 80, true},   // over it
           Row{10, 2, 0, true, 80, false},  // charges nothing
           Row{10, 0, 1, true, 100, true},
           Row{10, 0, 10, true, 80, true},
           Row{10, 0, 1, false, 100, false},  // a denial charges nothing
           Row{3, 1, 1, true, 80, false},     // 66 %
           Row{3, 0, 1, true, 80, true},
           Row{0, 0, 1, false, 80, false},
           Row{10, -5, 20, true, 100, true},  // a debt
           Row{rules::exact_limit, 0, 1, true, 100, true},
       }) {
    CAPTURE(row.limit, row.remaining, row.cost, row.percent);
    LimitVerdict limit{.policy = &plain, .terms = &plain, .cost = row.cost, .identity = {}};
    limit.decision = {.allowed = row.allowed, .limit = row.limit, .remaining = row.remaining};
    const Outcome outcome = row.allowed ? Outcome::allowed : Outcome::denied;
    CHECK(reaches(limit, outcome, row.percent) == row.reaches);
  }
}

TEST_CASE("identities that an override exempts or denies have no events") {
  const Policy plain = policy("p", gcra(10, 1s));
  LimitVerdict limit{.policy = &plain, .terms = &plain, .cost = 1, .identity = {}};
  limit.decision = {.allowed = true, .limit = 10, .remaining = 2};
  CHECK(reaches(limit, Outcome::allowed, 80));
  for (const auto effect : {rules::OverrideEffect::unlimited, rules::OverrideEffect::denied}) {
    limit.decision.override_effect = effect;
    CHECK_FALSE(reaches(limit, Outcome::allowed, 80));
  }
}

TEST_CASE("slots have no events, because they have no window") {
  Policy slots = policy("p", gcra(10, 1s));
  slots.numbers.algorithm = rules::Algorithm::concurrency;
  LimitVerdict limit{.policy = &slots, .terms = &slots, .cost = 1, .identity = {}};
  limit.decision = {.allowed = true, .limit = 10, .remaining = 2};
  CHECK_FALSE(reaches(limit, Outcome::allowed, 80));
}

TEST_CASE("an admitted limit of a denied request was not charged") {
  const Policy plain = policy("p", gcra(10, 1s));
  LimitVerdict limit{.policy = &plain, .terms = &plain, .cost = 1, .identity = {}};
  limit.decision = {.allowed = true, .limit = 10, .remaining = 2};
  CHECK_FALSE(reaches(limit, Outcome::denied, 80));
}

TEST_CASE("a denial that counts can reach a percentage") {
  Policy counting = policy("p", window_of(10, 1s));
  counting.numbers.count_rejected = true;
  LimitVerdict limit{.policy = &counting, .terms = &counting, .cost = 1, .identity = {}};
  limit.decision = {.allowed = false, .limit = 10, .remaining = 0};
  CHECK_FALSE(reaches(limit, Outcome::denied, 80));
  limit.cost = 3;
  CHECK(reaches(limit, Outcome::denied, 80));
}

TEST_CASE("with leases the use alone counts, because units are taken in advance") {
  Policy leased = policy("p", gcra(10, 1s));
  leased.lease = true;
  LimitVerdict limit{.policy = &leased, .terms = &leased, .cost = 1, .identity = {}};
  limit.decision = {.allowed = true, .limit = 10, .remaining = 1};
  CHECK(reaches(limit, Outcome::allowed, 80));
  limit.decision.remaining = 3;
  CHECK_FALSE(reaches(limit, Outcome::allowed, 80));
}

TEST_CASE("each percentage is raised once in a window, with its numbers") {
  Watched watched;
  watched.limit(policy("daily", window_of(10, 100s)), 0);
  for (int i = 0; i < 7; ++i)
    CHECK(watched.send() == Outcome::allowed);
  CHECK(watched.taken().empty());
  watched.send(10s);
  const auto events = watched.events.take();
  REQUIRE(events.size() == 1);
  CHECK(events[0].percent == 80);
  CHECK(events[0].used == 8);
  CHECK(events[0].limit == 10);
  CHECK(events[0].whole_after == 90s);
  CHECK(events[0].at == epoch + 10s);
  for (int i = 0; i < 5; ++i)
    watched.send(20s);
  CHECK(watched.taken() == std::vector{100});
  for (int i = 0; i < 12; ++i)
    watched.send(100s);
  CHECK(watched.taken() == std::vector{80, 100});
}

TEST_CASE("a key that refills around a percentage raises it once in the time of its quota") {
  Watched watched;
  watched.limit(policy("smooth", gcra(10, 10s)), 0);
  for (int i = 0; i < 8; ++i)
    watched.send();
  CHECK(watched.taken() == std::vector{80});
  for (const auto at : {1s, 2s, 3s, 4s, 5s, 6s, 7s})  // from 70 % to 80 % each time
    watched.send(at);
  CHECK(watched.taken().empty());
  watched.send(8s);
  CHECK(watched.taken() == std::vector{80});
}

TEST_CASE("random histories of fixed windows raise each percentage once in a window") {
  const TestSeed seed;
  Random random(static_cast<std::uint32_t>(seed));
  for (int history = 0; history < 20; ++history) {
    Watched watched;
    const auto quota = static_cast<std::int64_t>(1 + random.next() % 50);
    watched.limit(policy("p", window_of(quota, 10s)), 0).cost =
        static_cast<std::int64_t>(1 + random.next() % 4);
    std::map<std::uint8_t, Instant> ends;           // of the present window, by client
    std::map<std::uint8_t, std::int64_t> used;      // in it
    std::map<std::uint8_t, std::set<int>> reached;  // in it
    std::size_t expected = 0;
    std::size_t raised = 0;
    Duration at{0};
    for (int i = 0; i < 400; ++i) {
      at += Duration{static_cast<std::int64_t>(random.next() % 200'000)};
      const auto client = static_cast<std::uint8_t>(random.next() % 3);
      watched.client = IpAddress::v4({192, 0, 2, client});
      const std::int64_t cost = watched.route.limits[0].cost;
      const bool is_allowed = watched.send(at) == Outcome::allowed;
      if (is_allowed && ends[client] <= watched.now) {
        ends[client] = watched.now + 10s;
        used[client] = 0;
        reached[client].clear();
      }
      if (is_allowed) used[client] += cost;
      for (const int percent : watched.percents) {
        const bool is_reached = is_allowed && used[client] * 100 >= quota * percent;
        if (is_reached && reached[client].insert(percent).second) ++expected;
      }
      raised += watched.taken().size();
      REQUIRE(raised == expected);
    }
  }
}

TEST_CASE("events that nobody takes are bounded, and those beyond are counted") {
  QuotaEvents events(3);
  constexpr std::uint64_t more = 5;
  for (std::uint64_t key = 0; key < QuotaEvents::most_pending + more; ++key)
    events.raise(event_of(key, 10s, epoch));
  CHECK(events.raised() == QuotaEvents::most_pending + more);
  CHECK(events.dropped() == more);
  const auto taken = events.take();
  REQUIRE(taken.size() == QuotaEvents::most_pending);
  CHECK(taken.front().key.identity.low == 0);
  CHECK(taken.back().key.identity.low == QuotaEvents::most_pending - 1);
  CHECK(events.take().empty());
  events.raise(event_of(1, 10s, epoch + 9s));
  CHECK(events.take().empty());
  events.raise(event_of(1, 10s, epoch + 10s));
  CHECK(events.take().size() == 1);
  CHECK(events.dropped() == more);
}

}  // namespace weir::limiter::test
