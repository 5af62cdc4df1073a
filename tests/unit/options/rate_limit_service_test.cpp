#include "options/rate_limit_service.hpp"

#include "catch.hpp"

using namespace std::chrono_literals;
using weir::Duration;
using weir::options::length_of;
using weir::options::name_of;
using weir::options::RateLimitUnit;

TEST_CASE("the length and the name of each unit of a limit") {
  const struct {
    RateLimitUnit unit;
    Duration length;
    std::string_view name;
  } rows[] = {
      {RateLimitUnit::unknown, 0s, "UNKNOWN"},   {RateLimitUnit::second, 1s, "SECOND"},
      {RateLimitUnit::minute, 1min, "MINUTE"},   {RateLimitUnit::hour, 1h, "HOUR"},
      {RateLimitUnit::day, 24h, "DAY"},          {RateLimitUnit::week, 7 * 24h, "WEEK"},
      {RateLimitUnit::month, 30 * 24h, "MONTH"}, {RateLimitUnit::year, 365 * 24h, "YEAR"},
  };
  for (const auto& row : rows) {
    CHECK(length_of(row.unit) == row.length);
    CHECK(name_of(row.unit) == row.name);
  }
}
