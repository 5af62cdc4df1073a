// How far a log is.
#include "replay/log_clock.hpp"

#include "catch.hpp"

namespace weir::replay {
namespace {

LogClock clock_after(std::initializer_list<std::int64_t> seconds) {
  LogClock clock;
  for (const std::int64_t at : seconds)
    clock.note(Instant{std::chrono::seconds(at)});
  return clock;
}

std::int64_t seconds_of(const LogClock& clock) {
  return clock.time().time_since_epoch() / std::chrono::seconds(1);
}

}  // namespace

TEST_CASE("the clock begins when the first lines agree, and follows the latest line") {
  CHECK(seconds_of(clock_after({100, 101, 102})) == 0);
  CHECK(seconds_of(clock_after({100, 101, 102, 103, 104, 105, 106, 107})) == 100);
  CHECK(seconds_of(clock_after({100, 100, 100, 100, 100, 100, 100, 100, 150, 140})) == 150);
  // A wrong time in the first line does not count.
  const LogClock clock = clock_after({999'999'999, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(seconds_of(clock) == 8);
  CHECK(clock.was_wrong());
}

TEST_CASE("the clock follows a step of more than an hour once eight lines in a row are ahead") {
  const std::initializer_list<std::int64_t> before{100, 100, 100, 100, 100, 100, 100, 100};
  LogClock clock = clock_after(before);
  const auto note = [&](std::int64_t seconds) {
    clock.note(Instant{std::chrono::seconds(seconds)});
    return seconds_of(clock);
  };
  CHECK(note(3'700) == 3'700);  // an hour
  for (int i = 0; i < 7; ++i)
    CHECK(note(100'000 + i) == 3'700);
  CHECK_FALSE(clock.was_wrong());
  CHECK(note(3'701) == 3'701);
  CHECK(clock.was_wrong());
  for (int i = 0; i < 7; ++i)
    CHECK(note(200'000 - i) == 3'701);
  CHECK(note(300'000) == 199'994);  // the log has a gap
}

}  // namespace weir::replay
