#include "telemetry/metric_sink.hpp"

#include <map>
#include <string>

#include "catch.hpp"

namespace weir::telemetry {

TEST_CASE("seconds are exact decimals") {
  const std::map<std::int64_t, std::string> rows{
      {0, "0"},         {1, "0.000001"},    {100, "0.0001"},         {250'000, "0.25"},
      {1'000'000, "1"}, {10'000'000, "10"}, {1'000'001, "1.000001"}, {30'500'000, "30.5"}};
  for (const auto& [us, text] : rows)
    CHECK(seconds_text(Duration{us}) == text);
}

}  // namespace weir::telemetry
