#include "base/text.hpp"

#include <cstdint>
#include <string_view>

#include "catch.hpp"

using namespace weir;

TEST_CASE("a number is all of the text") {
  CHECK(parse_number<std::uint16_t>("0") == 0);
  CHECK(parse_number<std::uint16_t>("65535") == 65'535);
  CHECK(parse_number<std::int64_t>("-12") == -12);
  CHECK(parse_number<std::uint64_t>("ff", 16) == 255);
  for (const char* const text : {"", "+1", "-1", " 1", "1 ", "1a", "0x1", "65536"})
    CHECK_FALSE(parse_number<std::uint16_t>(text));
}

TEST_CASE("a text is taken in parts") {
  std::string_view rest = "a::b";
  CHECK(take_until(rest, ':') == "a");
  CHECK(take_before(rest, ':') == "");
  CHECK_FALSE(take_before(rest, ':'));
  CHECK(take_until(rest, ':') == "b");
  CHECK(rest.empty());
  CHECK(take_until(rest, ':').empty());
}
