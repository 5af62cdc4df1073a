#include "app/event_burst.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::app {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a burst of events is over after a quiet time, and at most a second after the first") {
  struct Row {
    std::vector<int> events_ms;
    int over_ms;
  };
  const Row rows[] = {
      {{0}, 50},         {{0, 49}, 99},     {{0, 40, 80}, 130},    {{0, 940}, 990},
      {{0, 950}, 1000},  {{0, 951}, 1000},  {{0, 500, 999}, 1000}, {{0, 1000}, 1000},
      {{0, 1500}, 1000}, {{7, 1000}, 1007},
  };
  const EventBurst::Time start{std::chrono::hours(1)};
  for (const Row& row : rows) {
    EventBurst burst;
    EventBurst::Time over;
    for (const int event : row.events_ms)
      over = burst.note(start + milliseconds(event));
    CHECK(over == start + milliseconds(row.over_ms));
  }
}

TEST_CASE("an event after the end begins another burst") {
  const EventBurst::Time start{std::chrono::hours(1)};
  EventBurst burst;
  burst.note(start);
  burst.end();
  CHECK(burst.note(start + milliseconds(980)) == start + milliseconds(1030));
}

}  // namespace
}  // namespace weir::app
