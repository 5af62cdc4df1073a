#include <chrono>
#include <ctime>
#include <random>
#include <string>

#include "catch.hpp"
#include "http/ratelimit_fields.hpp"
#include "seed.hpp"

namespace weir::http {
namespace {

std::string date_of(std::int64_t us) {
  std::string text;
  append_http_date(text, instant_from_us(us));
  return text;
}

std::string date_of_second(std::int64_t second) {
  return date_of(second * 1'000'000);
}

TEST_CASE("dates in the preferred form of RFC 9110 section 5.6.7") {
  struct Row {
    std::int64_t second;
    const char* text;
  };
  const Row rows[] = {
      {784'111'777, "Sun, 06 Nov 1994 08:49:37 GMT"},  // the RFC's own
      {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
      {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
      // leap years: every fourth, not the centuries, but every fourth of those
      {951'782'400, "Tue, 29 Feb 2000 00:00:00 GMT"},
      {951'868'800, "Wed, 01 Mar 2000 00:00:00 GMT"},
      {1'709'251'199, "Thu, 29 Feb 2024 23:59:59 GMT"},
      {1'709'251'200, "Fri, 01 Mar 2024 00:00:00 GMT"},
      {4'107'542'399, "Sun, 28 Feb 2100 23:59:59 GMT"},
      {4'107'542'400, "Mon, 01 Mar 2100 00:00:00 GMT"},
      {-2'203'891'200, "Thu, 01 Mar 1900 00:00:00 GMT"},
      // the 32-bit edge and the last date of four digits
      {2'147'483'648, "Tue, 19 Jan 2038 03:14:08 GMT"},
      {253'402'300'799, "Fri, 31 Dec 9999 23:59:59 GMT"},
      {253'402'300'800, "Fri, 31 Dec 9999 23:59:59 GMT"},
  };
  for (const Row& row : rows) {
    INFO(row.second);
    CHECK(date_of_second(row.second) == row.text);
  }
}

TEST_CASE("a date is the second that has begun") {
  CHECK(date_of(784'111'777'999'999) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date_of(-1) == "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST_CASE("every instant has a date of 29 characters") {
  for (const std::int64_t us :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    CHECK(date_of(us).size() == 29);
  }
  CHECK(date_of(std::numeric_limits<std::int64_t>::min()) == "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST_CASE("dates agree with the C library's calendar") {
  const TestSeed seed;
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::int64_t> seconds{-62'135'596'800,
                                                      253'402'300'799};  // years 1 to 9999
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t second = seconds(random);
    const std::time_t time = second;
    std::tm calendar{};
    gmtime_r(&time, &calendar);
    char expected[64];
    constexpr const char* weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::snprintf(expected, sizeof expected, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  weekdays[calendar.tm_wday], calendar.tm_mday, months[calendar.tm_mon],
                  calendar.tm_year + 1900, calendar.tm_hour, calendar.tm_min, calendar.tm_sec);
    REQUIRE(date_of_second(second) == expected);
  }
}

}  // namespace
}  // namespace weir::http
