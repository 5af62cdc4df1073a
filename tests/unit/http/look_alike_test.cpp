#include "http/look_alike.hpp"

#include "catch.hpp"
#include "http/characters.hpp"

namespace weir::http {
namespace {

TEST_CASE("a plain name has letters, digits and - only, in every position") {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    if (!is_token_character(c)) continue;
    const bool expected = c == '-' || is_digit(c) || is_alpha(c);
    for (const std::size_t size : {1U, 7U, 8U, 9U, 16U, 21U}) {
      for (std::size_t at = 0; at < size; ++at) {
        std::string name(size, 'Z');
        name[at] = c;
        INFO(name);
        CHECK(is_plain_name(name) == expected);
      }
    }
  }
  CHECK(is_plain_name(""));
}

TEST_CASE("a look-alike differs in punctuation, not in case alone") {
  for (const char* name : {"X_Api_Key", "x.api-key", "X~API*KEY", "x-api_key"}) {
    INFO(name);
    CHECK(is_look_alike(name, "x-api-key"));
  }
  for (const char* name : {"X-Api-Key", "x-api-key", "x--api-key", "xxapixkey", "x_api_keys"}) {
    INFO(name);
    CHECK_FALSE(is_look_alike(name, "x-api-key"));
  }
}

}  // namespace
}  // namespace weir::http
