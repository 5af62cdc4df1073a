#include "jwt/refresh_schedule.hpp"

#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::jwt {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr RefreshTimes times{.refresh = minutes(10), .cooldown = seconds(30)};
constexpr std::uint64_t no_jitter = 0;

Instant at_second(std::int64_t second) {
  return Instant{seconds(second)};
}

/// The second at which the next fetch is due; -1 while one is in progress.
std::int64_t due(const RefreshSchedule& schedule) {
  const auto next = schedule.next_at();
  return next ? to_us(*next) / 1'000'000 : -1;
}

TEST_CASE("the first fetch is due at once, and one is in progress at a time") {
  RefreshSchedule schedule(times, at_second(100));
  CHECK(due(schedule) == 100);
  CHECK_FALSE(schedule.start_if_due(at_second(99)));
  CHECK(schedule.start_if_due(at_second(100)));
  CHECK(due(schedule) == -1);
  CHECK_FALSE(schedule.start_if_due(at_second(1'000'000)));
  schedule.note_unknown_key();
  CHECK_FALSE(schedule.start_if_due(at_second(1'000'000)));
}

TEST_CASE("the lifetime of keys counts between cooldown and refresh, less a tenth at most") {
  struct Row {
    std::optional<Duration> fresh_for;
    std::uint64_t random;
    std::int64_t next;
  };
  const Row rows[] = {
      // Without a lifetime: refresh.
      {std::nullopt, no_jitter, 600},
      {std::nullopt, 60'000'000, 540},
      {std::nullopt, 60'000'001, 600},  // the random number is reduced to the choices there are
      // Within the bounds: as the answer has it.
      {seconds(30), no_jitter, 30},
      {seconds(31), no_jitter, 31},
      {seconds(100), no_jitter, 100},
      {seconds(100), 10'000'000, 90},
      {minutes(10), no_jitter, 600},
      // Outside: the bounds.
      {seconds(0), no_jitter, 30},
      {seconds(29), no_jitter, 30},
      {seconds(601), no_jitter, 600},
      {std::chrono::hours(24 * 365), no_jitter, 600},
      // Jitter does not go below cooldown.
      {seconds(0), 3'000'000, 30},
      {seconds(32), 3'200'000, 30},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fresh_for ? row.fresh_for->count() : -1, row.random);
    RefreshSchedule schedule(times, at_second(-5));
    REQUIRE(schedule.start_if_due(at_second(-5)));
    schedule.succeeded(at_second(0), row.fresh_for, row.random);
    CHECK(due(schedule) == row.next);
  }
}

TEST_CASE("an unknown key causes one fetch, as soon as cooldown has passed") {
  RefreshSchedule schedule(times, at_second(0));
  REQUIRE(schedule.start_if_due(at_second(0)));
  schedule.succeeded(at_second(1), {}, no_jitter);
  CHECK(due(schedule) == 601);
  // Within cooldown: due at its end.
  for (int i = 0; i < 1000; ++i)
    schedule.note_unknown_key();
  CHECK(due(schedule) == 31);
  CHECK_FALSE(schedule.start_if_due(at_second(30)));
  REQUIRE(schedule.start_if_due(at_second(31)));
  // A fetch in progress has the newest keys.
  schedule.note_unknown_key();
  schedule.succeeded(at_second(32), {}, no_jitter);
  CHECK(due(schedule) == 632);
  // After cooldown: at once.
  schedule.note_unknown_key();
  CHECK(schedule.start_if_due(at_second(200)));
  // A failure ends the wish too: it is tried again after cooldown, not at once.
  schedule.note_unknown_key();
  schedule.failed(at_second(201), no_jitter);
  CHECK(due(schedule) == 231);
  schedule.note_unknown_key();
  CHECK(due(schedule) == 231);
}

TEST_CASE("an unknown key does not delay a fetch that is due earlier") {
  RefreshSchedule schedule({.refresh = seconds(30), .cooldown = seconds(30)}, at_second(0));
  REQUIRE(schedule.start_if_due(at_second(0)));
  schedule.succeeded(at_second(0), {}, no_jitter);
  schedule.note_unknown_key();
  CHECK(due(schedule) == 30);
}

TEST_CASE("without keys retries wait twice as long each time, up to ten seconds") {
  RefreshSchedule schedule({.refresh = hours(24), .cooldown = hours(1)}, at_second(0));
  std::int64_t now = 0;
  for (const std::int64_t wait : {1, 2, 4, 8, 10, 10, 10}) {
    REQUIRE(schedule.start_if_due(at_second(now)));
    schedule.failed(at_second(now), no_jitter);
    // There is no key that a token could need.
    schedule.note_unknown_key();
    CHECK(due(schedule) == now + wait);
    now += wait;
  }
  for (int i = 0; i < 200; ++i) {  // no overflow
    REQUIRE(schedule.start_if_due(at_second(now)));
    schedule.failed(at_second(now), 1'000'000);
    CHECK(due(schedule) == now + 11);  // with jitter
    now += 11;
  }
}

TEST_CASE("without keys retries wait for cooldown if that is shorter") {
  RefreshSchedule schedule({.refresh = minutes(10), .cooldown = seconds(3)}, at_second(0));
  std::int64_t now = 0;
  for (const std::int64_t wait : {1, 2, 3, 3, 3}) {
    REQUIRE(schedule.start_if_due(at_second(now)));
    schedule.failed(at_second(now), no_jitter);
    CHECK(due(schedule) == now + wait);
    now += wait;
  }
}

TEST_CASE("an issuer that was away at the start is found soon, however long cooldown is") {
  RefreshSchedule schedule({.refresh = hours(24), .cooldown = hours(1)}, at_second(0));
  std::int64_t fetches = 0;
  for (std::int64_t second = 0; second < 75; ++second) {
    if (!schedule.start_if_due(at_second(second))) continue;
    ++fetches;
    schedule.failed(at_second(second), no_jitter);
  }
  CHECK(fetches == 10);  // at 0, 1, 3, 7, 15, 25 and so on
}

TEST_CASE(
    "with the keys of an earlier schedule the first fetch is at once, and a retry after cooldown") {
  RefreshSchedule schedule(times, at_second(100));
  schedule.inherit_keys();
  schedule.set(times);
  REQUIRE(schedule.start_if_due(at_second(100)));
  schedule.failed(at_second(101), no_jitter);
  CHECK(due(schedule) == 131);
  schedule.note_unknown_key();
  CHECK(due(schedule) == 131);
  REQUIRE(schedule.start_if_due(at_second(131)));
  schedule.succeeded(at_second(131), {}, no_jitter);
  CHECK(due(schedule) == 731);
}

TEST_CASE("with keys a retry waits for cooldown") {
  RefreshSchedule schedule(times, at_second(0));
  REQUIRE(schedule.start_if_due(at_second(0)));
  schedule.succeeded(at_second(0), {}, no_jitter);
  std::int64_t now = 600;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(schedule.start_if_due(at_second(now)));
    schedule.failed(at_second(now), no_jitter);
    CHECK(due(schedule) == now + 30);
    now += 30;
  }
  REQUIRE(schedule.start_if_due(at_second(now)));
  schedule.succeeded(at_second(now), {}, no_jitter);
  CHECK(due(schedule) == now + 600);
}

TEST_CASE("a reload changes the times, and repeats a fetch that failed") {
  RefreshSchedule schedule(times, at_second(0));
  REQUIRE(schedule.start_if_due(at_second(0)));
  schedule.retry_now(at_second(0));
  CHECK(due(schedule) == -1);
  schedule.succeeded(at_second(0), {}, no_jitter);
  schedule.set({.refresh = minutes(20), .cooldown = seconds(30)});
  CHECK(due(schedule) == 600);
  schedule.set({.refresh = minutes(2), .cooldown = seconds(10)});
  CHECK(due(schedule) == 120);
  schedule.note_unknown_key();
  CHECK(due(schedule) == 10);
  schedule.retry_now(at_second(5));  // the last fetch was a success
  CHECK(due(schedule) == 10);
  REQUIRE(schedule.start_if_due(at_second(10)));
  schedule.failed(at_second(10), no_jitter);
  CHECK(due(schedule) == 20);
  schedule.retry_now(at_second(12));
  CHECK(due(schedule) == 12);
  schedule.retry_now(at_second(13));
  CHECK(due(schedule) == 12);
}

/// Checks the invariants of the schedule after each of a series of random events.
class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed), schedule_(times_, at_second(0)) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      now_ += Duration{static_cast<std::int64_t>(random_() % 2'000'000)};
      step();
    }
    CHECK(fetches_ > 100);
  }

 private:
  void step() {
    if (random_() % 4 == 0) {
      for (int i = 0; i < 1000; ++i)
        schedule_.note_unknown_key();
      if (!is_fetching_ && has_keys_ && !unknown_since_) unknown_since_ = now_;
    }
    if (is_fetching_ && random_() % 3 == 0) return end();
    if (!schedule_.start_if_due(now_)) return check_waiting();
    REQUIRE_FALSE(is_fetching_);
    if (has_keys_) CHECK(now_ - ended_at_ >= times_.cooldown);
    if (!has_keys_ && fetches_ > 0) CHECK(now_ - ended_at_ >= RefreshSchedule::first_retry_after);
    is_fetching_ = true;
    ++fetches_;
  }

  void end() {
    is_fetching_ = false;
    unknown_since_.reset();
    ended_at_ = now_;
    if (random_() % 3 == 0) return schedule_.failed(now_, random_());
    has_keys_ = true;
    std::optional<Duration> fresh_for;
    if (random_() % 2 == 0) fresh_for = seconds(random_() % 1'000);
    schedule_.succeeded(now_, fresh_for, random_());
  }

  /// Nothing that is due waits.
  void check_waiting() const {
    if (is_fetching_) return;
    const Duration since_end = now_ - ended_at_;
    CHECK(since_end < times_.refresh);
    if (unknown_since_) CHECK(since_end < times_.cooldown);
  }

  const RefreshTimes times_{.refresh = minutes(1), .cooldown = seconds(5)};
  std::mt19937_64 random_;
  Instant now_ = at_second(0);
  RefreshSchedule schedule_;
  bool is_fetching_ = false;
  bool has_keys_ = false;
  Instant ended_at_ = at_second(0);
  std::optional<Instant> unknown_since_;
  int fetches_ = 0;
};

TEST_CASE("whatever happens, cooldown passes between fetches, and none is forgotten") {
  const TestSeed seed;
  for (std::uint64_t i = 0; i < 20; ++i) {
    INFO("seed " << seed + i);
    History(seed + i).run(5'000);
  }
}

TEST_CASE("a thousand invented keys a second cause one fetch per cooldown") {
  RefreshSchedule schedule(times, at_second(0));
  std::int64_t fetches = 0;
  for (std::int64_t second = 0; second < 3'600; ++second) {
    for (int i = 0; i < 1'000; ++i)
      schedule.note_unknown_key();
    if (!schedule.start_if_due(at_second(second))) continue;
    ++fetches;
    schedule.succeeded(at_second(second), seconds(0), no_jitter);
  }
  CHECK(fetches == 120);
}

}  // namespace
}  // namespace weir::jwt
