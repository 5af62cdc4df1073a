// The log of events before a shared store whose answers the test chooses, and before none.
#include "app/event_log.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/source.hpp"
#include "catch.hpp"

namespace weir::app {
namespace {

using namespace std::chrono_literals;

const std::string event_log_yaml = R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
access_log: off
workers: 1
identities: {client: {client_address: {}}}
policies: {rate: {rate: 10/1h}, other: {rate: 10/1h}}
events: {at: [80, 100]}
routes:
  - respond: {}
    limits: [{policy: rate, key: client}, {policy: other, key: client}]
)";
const std::string with_redis = "store: {type: redis, redis: {url: \"redis://127.0.0.1:1\"}}\n";

/// Keeps the marks that are set until the test answers them.
struct AskedMarks final : store::EventMarks {
  void mark(const store::EventMark& mark, Instant, Done done) override {
    asked.emplace_back(mark, std::move(done));
  }
  void read_generation(OnGeneration done) override { generations.push_back(std::move(done)); }
  void answer(std::size_t index, const store::MarkReport& report) {
    asked.at(index).second(report);
  }

  std::vector<std::pair<store::EventMark, Done>> asked;
  std::vector<OnGeneration> generations;
};

struct LoggedEvents {
  explicit LoggedEvents(bool is_shared)
      : log({.io = io,
             .clock = clock,
             .running = running,
             .events = events,
             .with_shared = [this](auto task) { task(&access); },
             .log = [this](const LogLine& line) { lines.push_back(line.text); },
             .instance = "weir:1"}) {
    const auto loaded =
        text_source("test", event_log_yaml + (is_shared ? with_redis : "")).load(1s, nullptr);
    REQUIRE(loaded.has_value());
    auto prepared = running.prepare(*loaded);
    REQUIRE(prepared.has_value());
    running.commit(std::move(*prepared));
  }

  limiter::QuotaEvent raise(std::uint64_t key, int percent = 80) {
    const Instant now = clock.now();
    const limiter::QuotaEvent event{.key = {.identity = {.low = key}, .policy_id = 0},
                                    .percent = percent,
                                    .used = 8,
                                    .limit = 10,
                                    .at = now,
                                    .window = {.ends_at = now + 1h, .earlier_until = now}};
    events.raise(event);
    return event;
  }
  void poll() {
    io.restart();
    io.poll();
  }
  void finish() {
    log.finish([this] { is_finished = true; });
    poll();
  }
  std::uint64_t count(limiter::EventResult result, int percent = 80) const {
    return events.counts(0, percent)[static_cast<std::size_t>(result)];
  }

  boost::asio::io_context io;
  MonotonicClock clock;
  RunningConfiguration running{1'000};
  limiter::QuotaEvents events{1};
  AskedMarks marks;
  store::MemoryStore memory{{.max_keys = 10, .seed = 1}};
  struct NoOverrides final : store::Overrides {
    void put(const Hash128&, const store::Override&, Instant, Done) override { FAIL(); }
    void remove(const Hash128&, const std::string&, Instant, Done) override { FAIL(); }
    void end_denials(Done) override { FAIL(); }
    void list(const std::optional<Hash128>&, Instant, std::stop_token, Done) override { FAIL(); }
  } overrides;
  struct NoEntries final : store::EntryReader {
    void read_entries(const Hash128&, const std::string&, Done) override { FAIL(); }
  } entries;
  SharedAccess access{
      .overrides = overrides, .decisions = memory, .entries = entries, .event_marks = marks};
  std::vector<std::string> lines;
  EventLog log;
  bool is_finished = false;
};

}  // namespace

TEST_CASE("the line about an event shows the hash of its key, and rounds its time up") {
  limiter::QuotaEvent event{
      .key = {.identity = {.low = 0x0123456789abcdef, .high = 0xfedcba9876543210}, .policy_id = 3},
      .percent = 80,
      .used = 8,
      .limit = 10,
      .whole_after = Duration{1'000'001},
      .at = {}};
  CHECK(line_of(event, "per_user") ==
        LogLine{LogLine::Level::info,
                "policy per_user: key fedcba98765432100123456789abcdef has reached 80 % of its "
                "quota: 8 of 10 units are used; whole again in 2 s"});
  event.counts_slots = true;
  CHECK(line_of(event, "p").text.ends_with("8 of 10 units are used"));
}

TEST_CASE("without Redis events are logged at once") {
  LoggedEvents world(false);
  world.raise(1);
  world.raise(1, 100);
  world.finish();
  CHECK(world.is_finished);
  CHECK(world.lines.size() == 2);
  CHECK(world.count(limiter::EventResult::logged) == 1);
  CHECK(world.count(limiter::EventResult::logged, 100) == 1);
  CHECK(world.marks.asked.empty());
}

TEST_CASE(
    "with Redis an event is logged by the instance that sets its mark, or if there is an error") {
  LoggedEvents world(true);
  for (const std::uint64_t key : {1, 2, 3})
    world.raise(key);
  world.log.use();
  REQUIRE(world.marks.asked.size() == 3);
  CHECK(world.marks.asked[0].first.policy == "rate");
  CHECK(world.marks.asked[0].first.percent == 80);
  CHECK(world.lines.empty());
  world.marks.answer(1, {.marked_for = 10s});
  world.marks.answer(2, {.error = store::Error::connection_lost});
  world.marks.answer(0, {});
  world.poll();
  CHECK(world.lines.size() == 2);
  CHECK(world.count(limiter::EventResult::logged) == 2);
  CHECK(world.count(limiter::EventResult::elsewhere) == 1);
  // The mark of another instance is remembered until its window ends.
  limiter::QuotaEvent later = world.raise(2);
  later.window.earlier_until = world.clock.now() + 11s;
  world.events.raise(later);
  CHECK(world.events.take().size() == 1);
}

TEST_CASE("the end waits for answers about the last events, and reports those that are open") {
  LoggedEvents world(true);
  world.raise(1);
  world.finish();
  CHECK_FALSE(world.is_finished);
  SECTION("the answer comes") {
    world.marks.answer(0, {.marked_for = 10s});
    world.poll();
    CHECK(world.is_finished);
    CHECK(world.lines.empty());
  }
  SECTION("there is no time for it") {
    world.log.hurry();
    CHECK(world.is_finished);
    CHECK(world.lines.size() == 1);
    world.marks.answer(0, {});  // late
    world.poll();
    CHECK(world.lines.size() == 1);
  }
}

TEST_CASE("a new generation makes all events be asked for again") {
  LoggedEvents world(true);
  world.raise(1);
  world.log.use();
  REQUIRE(world.marks.generations.size() == 1);
  const auto read = [&](std::uint64_t generation) {
    world.marks.generations[0](generation);
    world.poll();
    world.raise(1);
    return world.events.take().size();
  };
  CHECK(read(0) == 0);
  CHECK(read(5) == 1);
  CHECK(read(5) == 0);
  CHECK(read(0) == 0);  // it has expired
  CHECK(read(6) == 1);
}

}  // namespace weir::app
