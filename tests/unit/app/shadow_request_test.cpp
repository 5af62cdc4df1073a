// The terms of a reload in shadow: durations, percentages, the query.
#include "app/shadow_request.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::app::test {

TEST_CASE("shadow request: a percentage in millionths") {
  const std::vector<std::pair<std::string, std::int64_t>> rows{{"0", 0},
                                                               {"0%", 0},
                                                               {"0.5%", 5'000},
                                                               {"0.5", 5'000},
                                                               {"1%", 10'000},
                                                               {"0.0001%", 1},
                                                               {"12.3456%", 123'456},
                                                               {"99.9999", 999'999},
                                                               {"100%", 1'000'000},
                                                               {"100.0000%", 1'000'000},
                                                               {"007%", 70'000}};
  for (const auto& [text, share] : rows) {
    CAPTURE(text);
    const auto parsed = parse_percentage(text);
    REQUIRE(parsed.has_value());
    CHECK(*parsed == share);
  }
  for (const auto* const text :
       {"", "%", "-1%", "-0.5", "100.0001%", "101", "1.", ".5", "0.00001%", "1e2", " 1", "1 %",
        "1%%", "+1", "0.-5", "1.2.3", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_percentage(text).has_value());
  }
}

TEST_CASE("shadow request: a period from a second to a day") {
  CHECK(parse_shadow_period("10m").value() == std::chrono::minutes(10));
  CHECK(parse_shadow_period("1s").value() == shortest_shadow);
  CHECK(parse_shadow_period("1d").value() == longest_shadow);
  for (const auto* const text : {"", "10", "999ms", "25h", "86401s", "-1s", "m"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_shadow_period(text).has_value());
  }
}

TEST_CASE("shadow request: the query of a reload") {
  CHECK_FALSE(read_reload_query("").value().has_value());
  const auto usual = read_reload_query("shadow=10m").value();
  REQUIRE(usual.has_value());
  CHECK(usual->period == std::chrono::minutes(10));
  CHECK(usual->max_flips == 5'000);
  CHECK(read_reload_query("max_flips=2%25&shadow=1m").value()->max_flips == 20'000);
  const std::vector<std::pair<std::string, std::string>> rows{
      {"shadow=x", R"(shadow: expected a duration from 1s to 1d, such as 10m, not "x")"},
      {"shadow=1m&max_flips=x", "max_flips: expected a percentage from 0% to 100%"},
      {"max_flips=1", "max_flips needs shadow"},
      {"shadow=1m&shadow=2m", "appears twice"},
      {"force=1", "unknown parameter"}};
  for (const auto& [query, part] : rows) {
    CAPTURE(query);
    const auto read = read_reload_query(query);
    REQUIRE(read.has_error());
    CHECK(read.error().message.find(part) != std::string::npos);
  }
}

}  // namespace weir::app::test
