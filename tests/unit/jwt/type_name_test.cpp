#include "jwt/type_name.hpp"

#include "catch.hpp"

namespace weir::jwt {
namespace {

TEST_CASE("names of types are equal without case and without the prefix application/") {
  const auto [text, expected, is_equal] = GENERATE(table<std::string_view, std::string_view, bool>({
      {"at+jwt", "at+jwt", true},
      {"AT+JWT", "at+jwt", true},
      {"application/at+jwt", "at+jwt", true},
      {"at+jwt", "Application/AT+jwt", true},
      {"application/at+jwt", "application/at+jwt", true},
      {"application/", "application/", true},
      {"application/application/jwt", "jwt", false},  // only one prefix
      {"jwt", "at+jwt", false},
      {"at+jwt ", "at+jwt", false},
      {"text/at+jwt", "at+jwt", false},
      {"application", "application/", false},
      {"", "jwt", false},
      {"[at]", "{at}", false},  // differ by the bit of the case, but are no letters
  }));
  CAPTURE(text, expected);
  CHECK(is_type(text, expected) == is_equal);
}

}  // namespace
}  // namespace weir::jwt
