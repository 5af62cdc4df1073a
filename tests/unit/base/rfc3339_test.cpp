#include "base/rfc3339.hpp"

#include <string>

#include "catch.hpp"

using namespace weir;
using namespace std::literals;

TEST_CASE("A time of RFC 3339 is an instant") {
  struct Row {
    std::string_view text;
    std::int64_t us;
  };
  for (const auto& row : {
           Row{"1970-01-01T00:00:00Z", 0},
           Row{"2026-12-01T00:00:00Z", 1'796'083'200'000'000},
           Row{"2026-12-01t00:00:00z", 1'796'083'200'000'000},
           Row{"2026-12-01 00:00:00Z", 1'796'083'200'000'000},
           Row{"2026-12-01T01:30:00+01:30", 1'796'083'200'000'000},
           Row{"2026-11-30T16:00:00-08:00", 1'796'083'200'000'000},
           Row{"2026-12-01T00:00:00.5Z", 1'796'083'200'500'000},
           Row{"2026-12-01T00:00:00.000001Z", 1'796'083'200'000'001},
           // Digits after the microseconds do not count.
           Row{"2026-12-01T00:00:00.123456789Z", 1'796'083'200'123'456},
           Row{"2026-12-01T00:00:00.0000009+00:00", 1'796'083'200'000'000},
           Row{"2028-02-29T00:00:00Z", 1'835'395'200'000'000},
       }) {
    CAPTURE(row.text);
    const auto at = parse_rfc3339(row.text);
    REQUIRE(at.has_value());
    CHECK(to_us(*at) == row.us);
  }
}

TEST_CASE("Other text is no time") {
  for (const auto* const text : {"",
                                 "tomorrow",
                                 "2026-12-01",
                                 "2026-12-01T00:00:00",
                                 "2026-12-01T00:00Z",
                                 "2026-12-01T00:00:00Zx",
                                 "2026-13-01T00:00:00Z",
                                 "2026-02-29T00:00:00Z",
                                 "2026-12-32T00:00:00Z",
                                 "2026-12-00T00:00:00Z",
                                 "2026-12-01T24:00:00Z",
                                 "2026-12-01T00:60:00Z",
                                 "2026-12-01T00:00:60Z",
                                 "2026-12-01T00:00:00.Z",
                                 "2026-12-01T00:00:00.1234567",
                                 "2026-12-01T00:00:00.123456x9Z",
                                 "2026-12-01T00:00:00+1:00",
                                 "2026-12-01T00:00:00+24:00",
                                 "26-12-01T00:00:00Z",
                                 "-026-12-01T00:00:00Z",
                                 "2026-12--1T00:00:00Z",
                                 "2026-12-01T00:00:00.-1Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rfc3339(text).has_value());
  }
}

TEST_CASE("an instant is written as it is read") {
  for (const char* text :
       {"2026-12-01T00:00:00Z", "1970-01-01T00:00:00.000001Z", "2024-02-29T23:59:59.999999Z"}) {
    CAPTURE(text);
    CHECK(to_rfc3339(parse_rfc3339(text).value()) == text);
  }
}
