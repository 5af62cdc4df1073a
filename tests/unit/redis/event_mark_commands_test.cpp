// The marks of events before a real server: the script, its keys, and instances that share it.
#include "redis/event_mark_commands.hpp"

#include <map>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "catch.hpp"
#include "redis_under_test.hpp"
#include "seed.hpp"
#include "store_fixture.hpp"

namespace weir::redis::test {
namespace {

using store::EventMark;

const Instant marks_begin = instant_from_us(1'700'000'000'000'000);

/// The window begins with the event.
EventMark rolling_mark(std::uint64_t who, int percent, Duration length) {
  return {.identity = {.low = who},
          .policy = "p",
          .percent = percent,
          .ends_after = length,
          .kept_for = length};
}

/// The window of the key ends at `end`.
EventMark fixed_mark(Duration end, Duration length, Duration at) {
  return {.identity = {.low = 1},
          .policy = "p",
          .percent = 80,
          .ends_after = end - at,
          .earlier_until = end - at - length / 2,
          .kept_for = std::max(end - at, Duration{0}) + length / 2};
}

struct MarkWorld : StoreFixture {
  explicit MarkWorld(const RedisProcess& server) : StoreFixture(server), redis(server) {
    topology->stop();
    use(options_for(server), {.entries = {.policy_names = {"p"}}, .script_clock = Clock::argument});
    REQUIRE(StoreFixture::start());
    redis("FLUSHALL");
  }

  store::MarkReport mark(const EventMark& mark, Duration at = {}) {
    std::optional<store::MarkReport> report;
    topology->event_marks().mark(mark, marks_begin + at,
                                 [&](const store::MarkReport& one) { report = one; });
    REQUIRE(run_until([&] { return report.has_value(); }));
    return *report;
  }
  bool is_first(const EventMark& its_mark, Duration at = {}) {
    const auto report = mark(its_mark, at);
    CHECK(report.error == store::Error::none);
    return report.marked_for == Duration{0};
  }
  std::uint64_t generation() {
    std::optional<std::uint64_t> read;
    topology->event_marks().read_generation([&](std::uint64_t one) { read = one; });
    REQUIRE(run_until([&] { return read.has_value(); }));
    return *read;
  }

  Connection redis;
};

}  // namespace

TEST_CASE("one mark is set in a window that begins with it, by percentage and key") {
  MarkWorld marks(shared_server());
  CHECK(marks.is_first(rolling_mark(1, 80, 10s)));
  CHECK(marks.mark(rolling_mark(1, 80, 10s), 4s).marked_for == 6s);
  CHECK(marks.is_first(rolling_mark(1, 100, 10s), 4s));
  CHECK(marks.is_first(rolling_mark(2, 80, 10s), 4s));
  CHECK_FALSE(marks.is_first(rolling_mark(1, 80, 10s), 10s - 1us));
  CHECK(marks.is_first(rolling_mark(1, 80, 10s), 10s));
}

TEST_CASE("the end of a fixed window that is read a little too early or late is the same end") {
  MarkWorld marks(shared_server());
  CHECK(marks.is_first(fixed_mark(60s, 60s, 30s), 30s));
  CHECK_FALSE(marks.is_first(fixed_mark(60s - 30ms, 60s, 31s), 31s));
  CHECK_FALSE(marks.is_first(fixed_mark(60s + 30ms, 60s, 31s), 31s));
  CHECK_FALSE(marks.is_first(fixed_mark(60s, 60s, 61s), 61s));  // late, and still of that window
  CHECK(marks.is_first(fixed_mark(120s, 60s, 60s), 60s));       // early in the next one
  CHECK_FALSE(marks.is_first(fixed_mark(120s, 60s, 119s), 119s));
}

TEST_CASE("the marks of a key are one key beside its counter, which expires") {
  MarkWorld marks(shared_server());
  marks.is_first(rolling_mark(0xab, 80, 100s));
  marks.is_first(rolling_mark(0xab, 100, 10s));
  const std::string key = "weir:{000000000000000000000000000000ab}:p:e1";
  CHECK(marks.redis("HLEN", key)->integer == 2);
  const auto ttl = marks.redis("PTTL", key)->integer;
  CHECK(ttl > 100'000);
  CHECK(ttl <= 160'002);  // that of the longer window, and the minute of Clock::argument
}

TEST_CASE("forgetting a key removes its marks, and the generation shows a reset") {
  MarkWorld marks(shared_server());
  CHECK(marks.generation() == 0);
  CHECK(marks.is_first(rolling_mark(1, 80, 100s)));
  store::test::Received forgotten;
  marks.store->forget({.identity = {.low = 1}, .policy_id = 0}, forgotten, marks_begin);
  std::optional<store::OverrideReport> report;
  marks.topology->overrides().end_denials([&](auto one) { report = std::move(one); });
  REQUIRE(marks.run_until([&] { return report.has_value(); }));
  CHECK(marks.is_first(rolling_mark(1, 80, 100s)));
  const std::uint64_t first = marks.generation();
  CHECK(first != 0);
  report.reset();
  marks.topology->overrides().end_denials([&](auto one) { report = std::move(one); });
  REQUIRE(marks.run_until([&] { return report.has_value(); }));
  CHECK(marks.generation() != first);
}

TEST_CASE("a key of another type is an error, and stays") {
  MarkWorld marks(shared_server());
  const std::string key = "weir:{00000000000000000000000000000001}:p:e1";
  marks.redis("SET", key, "x", "EX", "60");
  CHECK(marks.mark(rolling_mark(1, 80, 10s)).error != store::Error::none);
  CHECK(marks.redis.text(marks.redis("GET", key)) == "x");
}

TEST_CASE("without a connection a mark is reported as not connected") {
  boost::asio::io_context io;
  const options::Redis options;
  const MonotonicClock clock;
  StoreCounters counters;
  NodeCountersList node_counters;
  Topology topology(io, options, {.entries = {.policy_names = {"p"}}}, clock, counters,
                    node_counters);  // not started
  std::optional<store::MarkReport> report;
  topology.event_marks().mark(rolling_mark(1, 80, 10s), marks_begin,
                              [&](const auto& one) { report = one; });
  REQUIRE(report);
  CHECK(report->error == store::Error::not_connected);
  std::optional<std::uint64_t> generation;
  topology.event_marks().read_generation([&](std::uint64_t one) { generation = one; });
  CHECK(generation == 0U);
}

TEST_CASE("random histories of instances agree with a model that remembers every window") {
  const TestSeed seed;
  Random random(static_cast<std::uint32_t>(seed));
  MarkWorld first(shared_server());
  MarkWorld second(shared_server());
  MarkWorld third(shared_server());
  MarkWorld* const instances[] = {&first, &second, &third};
  for (const bool is_fixed : {false, true}) {
    first.redis("FLUSHALL");
    std::map<std::pair<std::uint64_t, int>, Duration> ends;
    Duration at{0};
    for (int i = 0; i < 600; ++i) {
      at += Duration{static_cast<std::int64_t>(random.next() % 1'000'000)};
      const std::uint64_t who = 1 + random.next() % 3;
      const int percent = random.next() % 2 == 0 ? 80 : 100;
      EventMark mark = rolling_mark(who, percent, 10s);
      Duration end = at + 10s;
      if (is_fixed) {
        end = (at / 10s + 1) * 10s;  // read up to 30 ms too early or late
        const Duration read =
            end + Duration{static_cast<std::int64_t>(random.next() % 60'000)} - 30ms;
        mark.ends_after = read - at;
        mark.earlier_until = read - at - 5s;
        mark.kept_for = 20s;
      }
      Duration& last = ends[{who, percent}];
      const bool is_expected = is_fixed ? last < end : last <= at;
      if (is_expected) last = end;
      CAPTURE(is_fixed, i, who, percent, at.count());
      REQUIRE(instances[random.next() % 3]->is_first(mark, at) == is_expected);
    }
  }
}

}  // namespace weir::redis::test
