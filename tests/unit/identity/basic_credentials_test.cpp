#include "identity/basic_credentials.hpp"

#include <string>

#include "catch.hpp"

namespace weir::identity {
namespace {

TEST_CASE("Basic credentials are clear if they are canonical Base64") {
  for (const char* value :
       {"Basic dXNlcjpwYXNz", "basic YTo=", "BASIC YQ==", "bAsIc \t /+8= ", "Basic", "Basic "}) {
    INFO(value);
    CHECK(is_clear_if_basic(value));
  }
  for (const char* value : {"Basic YTo", "Basic YTp=", "Basic YR==", "Basic YQ=", "Basic YQ===",
                            "Basic ====", "Basic YTo=YTo=", "Basic dXN-cjpw", "Basic dXNl cjpw",
                            "Basic =YTo", "basic\tYTo", "Basic a", "Basic =", "Basic =="}) {
    INFO(value);
    CHECK_FALSE(is_clear_if_basic(value));
  }
}

TEST_CASE("credentials of other schemes are clear, whatever they are") {
  for (const char* value : {"", "Bearer YR==", "Basics YR==", "Basi YR==", "YR==", " Basic YR=="}) {
    INFO(value);
    CHECK(is_clear_if_basic(value));
  }
}

TEST_CASE("the unused bits of the last digit are zero") {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t digit = 0; digit < digits.size(); ++digit) {
    const std::string last(1, digits[digit]);
    INFO(last);
    CHECK(is_clear_if_basic("Basic AAA" + last));
    CHECK(is_clear_if_basic("Basic AA" + last + "=") == (digit % 4 == 0));
    CHECK(is_clear_if_basic("Basic A" + last + "==") == (digit % 16 == 0));
  }
}

}  // namespace
}  // namespace weir::identity
