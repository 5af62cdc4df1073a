#include "config/values.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

using namespace std::chrono_literals;

struct DurationCase {
  std::string_view text;
  Duration expected;
};

TEST_CASE("durations are one whole number and one unit") {
  const DurationCase cases[] = {
      {"0s", 0us},
      {"250us", 250us},
      {"20ms", 20ms},
      {"5s", 5s},
      {"1m", 60s},
      {"1h", 3600s},
      {"1d", 86'400s},
      {"007s", 7s},
      {"9223372036854775807us", Duration::max()},
      {"106751991d", std::chrono::hours(24LL * 106'751'991)},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const auto value = parse_duration(text);
    REQUIRE(value.has_value());
    CHECK(*value == expected);
  }
}

struct BadCase {
  std::string_view text;
  std::string_view says;
};

TEST_CASE("an invalid duration is refused with a valid form") {
  const BadCase cases[] = {
      {"", "expected a duration"},
      {"s", "expected a duration"},
      {"-5s", "expected a duration"},
      {"+5s", "expected a duration"},
      {" 5s", "expected a duration"},
      {"5", "needs a unit"},
      {"1.5s", "smaller unit"},
      {"1m30s", "90s, not 1m30s"},
      {"5 s", "unknown unit"},
      {"5S", "unknown unit"},
      {"5sec", "unknown unit"},
      {"5w", "unknown unit"},
      {"9223372036854775808us", "too large"},
      {"9223372036854776ms", "too large"},
      {"106751992d", "too large"},
      {"99999999999999999999d", "too large"},
  };
  for (const auto& [text, says] : cases) {
    CAPTURE(text);
    const auto value = parse_duration(text);
    REQUIRE_FALSE(value.has_value());
    CHECK(value.error().message.find(says) != std::string::npos);
  }
}

TEST_CASE("sizes are bytes or a whole number of a binary unit") {
  const std::pair<std::string_view, std::int64_t> good[] = {
      {"0", 0},
      {"512", 512},
      {"512B", 512},
      {"8KiB", 8192},
      {"1MiB", 1'048'576},
      {"2GiB", 2'147'483'648},
      {"8589934591GiB", 8'589'934'591LL << 30},
  };
  for (const auto& [text, bytes] : good) {
    CAPTURE(text);
    REQUIRE(parse_size(text).has_value());
    CHECK(*parse_size(text) == bytes);
  }
  for (const std::string_view text : {"", "KiB", "-1", "8KB", "8k", "8kib", "1.5MiB", "8 KiB",
                                      "8589934592GiB", "9223372036854775808"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).has_value());
  }
}

TEST_CASE("rates are a count over a time") {
  const std::pair<std::string_view, rules::Rate> good[] = {
      {"5/s", {5, 1s}},
      {"100/1m", {100, 60s}},
      {"1/30d", {1, std::chrono::hours(720)}},
      {"7/250ms", {7, 250ms}},
      {"1000000/s", {1'000'000, 1s}},
      {"10/us", {10, 1us}},
      {"0/1s", {0, 1s}},
  };
  for (const auto& [text, rate] : good) {
    CAPTURE(text);
    REQUIRE(parse_rate(text).has_value());
    CHECK(*parse_rate(text) == rate);
  }
  const BadCase bad[] = {
      {"", "expected a rate"},
      {"10", "expected a rate"},
      {"/s", "whole number"},
      {"-1/s", "whole number"},
      {"0.5/s", "1/10s"},
      {"1e3/s", "whole number"},
      {"10/", "expected a duration"},
      {"10/1", "needs a unit"},
      {"10/1s/2", "one number and one unit"},
      {"10 / 1s", "whole number"},
      {"10/minute", "expected a duration"},
      {"99999999999999999999/s", "too large"},
  };
  for (const auto& [text, says] : bad) {
    CAPTURE(text);
    const auto rate = parse_rate(text);
    REQUIRE_FALSE(rate.has_value());
    CHECK(rate.error().message.find(says) != std::string::npos);
  }
}

TEST_CASE("integers are decimal and whole") {
  CHECK(*parse_integer("0") == 0);
  CHECK(*parse_integer("-3") == -3);
  CHECK(*parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const std::string_view text :
       {"", "-", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "1_000", "9223372036854775808"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text).has_value());
  }
}

TEST_CASE("fractions are plain decimals") {
  CHECK(*parse_fraction("1") == 1.0);
  CHECK(*parse_fraction("0.25") == 0.25);
  for (const std::string_view text : {"", ".", "nan", "inf", "-0.5", "1e-3", "0,5", "0.5.5"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_fraction(text).has_value());
  }
}

TEST_CASE("durations and sizes are printed in the unit with the fewest digits") {
  CHECK(format_duration(0us) == "0s");
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(86'400s) == "1d");
  CHECK(format_duration(1500us) == "1500us");
  CHECK(format_size(0) == "0");
  CHECK(format_size(1000) == "1000");
  CHECK(format_size(1 << 20) == "1MiB");
  CHECK(format_size((1 << 20) + 1) == "1048577B");
}

}  // namespace
}  // namespace weir::config
