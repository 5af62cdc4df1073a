#include "base/log_limit.hpp"

#include "catch.hpp"

using namespace weir;
using namespace std::literals;

namespace {

const Instant limit_start = instant_from_us(1'700'000'000'000'000);

}  // namespace

TEST_CASE("a subject is logged again after a time, and others before, up to a number of lines") {
  struct Row {
    Duration at;
    const char* subject;
    bool is_logged;
  };
  const struct {
    const char* what;
    LogLimit::Options options;
    std::vector<Row> rows;
  } tables[] = {
      {"each subject once in an interval",
       {.interval = 1s, .most = 8, .repeated_after = 1s},
       {{0s, "a", true},
        {0s, "a", false},
        {1s - 1us, "a", false},
        {1s - 1us, "b", true},
        {1s, "a", true},
        {1s, "b", false},
        {2s - 1us, "b", true}}},
      {"no more lines than `most`",
       {.interval = 1s, .most = 2, .repeated_after = 1s},
       {{0s, "a", true},
        {500ms, "b", true},
        {500ms, "c", false},
        {1s - 1us, "c", false},
        {1s, "c", true},
        {1s, "a", false},
        {1500ms, "a", true}}},
      {"one line a minute, and one an hour about a subject",
       {.interval = 1min, .repeated_after = 1h},
       {{0s, "a", true},
        {59s, "b", false},
        {1min, "a", false},
        {1min, "b", true},  // the line about a that was not written does not delay it
        {2min, "c", true},
        {1h - 1us, "a", false},
        {1h, "a", true},
        {1h + 1min - 1us, "b", false},
        {1h + 1min, "b", true},
        {2h - 1us, "a", false}}},
  };
  for (const auto& table : tables) {
    LogLimit limit(table.options);
    for (const Row& row : table.rows) {
      CAPTURE(table.what, row.at.count(), row.subject);
      CHECK(limit.may_log(row.subject, limit_start + row.at) == row.is_logged);
    }
  }
}

TEST_CASE("a subject may be a number") {
  LogLimit limit({.interval = 1min, .most = 2, .repeated_after = 1min});
  CHECK(limit.may_log(1, limit_start));
  CHECK_FALSE(limit.may_log(1, limit_start));
  CHECK(limit.may_log(2, limit_start));
}
