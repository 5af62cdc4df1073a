#include "config/loose_values.hpp"

#include "catch.hpp"

namespace weir::config {

TEST_CASE("a rate that other programs or people write") {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"10/sec", "10/s"},
      {"10/seconds", "10/s"},
      {"100/min", "100/m"},
      {"100/Minute", "100/m"},
      {"1000/hour", "1000/h"},
      {"5/day", "5/d"},
      {"700/week", "700/7d"},
      {"10r/s", "10/s"},
      {"600r/m", "600/m"},
      {"10rps", "10/s"},
      {"100 per minute", "100/m"},
      {"100 requests per 30 seconds", "100/30s"},
      {"10 / s", "10/s"},
      {"1k/s", "1000/s"},
      {"10,000/1h", "10000/h"},
      {"10_000/1h", "10000/h"},
      {"0.5/s", "1/2s"},
      {"1.5/s", "3/2s"},
      {"100/1h30m", "100/90m"},
      {"\xe2\x80\x9c"
       "10/s\xe2\x80\x9d",
       "10/s"},
      // nothing is meant
      {"10", ""},
      {"many", ""},
      {"", ""},
      {"0/s", ""},
      {"10/month", ""},
      {"10/", ""},
      {"10/fortnight", ""},
      {"99999999999999999999/s", ""},
      {"0.0000001/s", ""},
  };
  for (const auto& [written, meant] : rows) {
    CAPTURE(written);
    CHECK(rate_meant(written) == meant);
  }
}

TEST_CASE("a duration in another notation") {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"5", "5s"},
      {"1.5s", "1500ms"},
      {"1m30s", "90s"},
      {"30 seconds", "30s"},
      {"2 Minutes", "2m"},
      {"0.25s", "250ms"},
      {"500 msec", "500ms"},
      {"1 week", "7d"},
      {"1h 30m", "90m"},
      {"soon", ""},
      {"", ""},
      {"5 parsecs", ""},
      {"0.0000001s", ""},
      {"1.s", ""},
      {"999999999999999d", ""},
  };
  for (const auto& [written, meant] : rows) {
    CAPTURE(written);
    CHECK(duration_meant(written) == meant);
  }
}

TEST_CASE("a size in another notation") {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"10MB", "10MiB"}, {"10m", "10MiB"},      {"8k", "8KiB"}, {"8 KB", "8KiB"}, {"1g", "1GiB"},
      {"1 gib", "1GiB"}, {"512 bytes", "512B"}, {"10TB", ""},   {"large", ""},    {"1.5MB", ""},
  };
  for (const auto& [written, meant] : rows) {
    CAPTURE(written);
    CHECK(size_meant(written) == meant);
  }
}

TEST_CASE("a whole number with something after it") {
  CHECK(integer_meant("20/s") == "20");
  CHECK(integer_meant("20 requests") == "20");
  CHECK(integer_meant("1,000") == "1000");
  for (const char* const none : {"20", "-1", "high", "", "1.5"})
    CHECK(integer_meant(none).empty());
}

TEST_CASE("months and years are recognised") {
  CHECK(names_months("1/month"));
  CHECK(names_months("100 per year"));
  CHECK_FALSE(names_months("1/m"));
}

}  // namespace weir::config
