#include "jwt/base64url.hpp"

#include <string>

#include "catch.hpp"

namespace weir::jwt {
namespace {

TEST_CASE("base64url is decoded") {
  // RFC 4648 section 10, without padding.
  CHECK(decode_base64url("") == "");
  CHECK(decode_base64url("Zg") == "f");
  CHECK(decode_base64url("Zm8") == "fo");
  CHECK(decode_base64url("Zm9v") == "foo");
  CHECK(decode_base64url("Zm9vYg") == "foob");
  CHECK(decode_base64url("Zm9vYmE") == "fooba");
  CHECK(decode_base64url("Zm9vYmFy") == "foobar");
  // RFC 7515 appendix C.
  CHECK(decode_base64url("A-z_4ME") == "\x03\xec\xff\xe0\xc1");
  CHECK(decode_base64url("AAAA") == std::string(3, '\0'));
}

TEST_CASE("text that is not the only encoding of its bytes is rejected") {
  for (const char* const text : {
           "Z",                             // an impossible length
           "Zm9vY",                         //
           "Zg==", "Zm8=", "=",             // padding
           "Zm9v+/", "Zm9v++", "//8",       // another alphabet
           "Zm 9v", "Zm9v\n", "\tZm9v",     // white space
           "Zm9v.", "Zm9v?", "Zm9\xc3\xa9"  //
       }) {
    INFO(text);
    CHECK_FALSE(decode_base64url(text));
  }
  CHECK_FALSE(decode_base64url(std::string_view{"Zm\0v", 4}));
}

TEST_CASE("the unused bits at the end of base64url must be zero") {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    INFO(alphabet[i]);
    CHECK(decode_base64url(std::string("A") + alphabet[i]).has_value() == (i % 16 == 0));
    CHECK(decode_base64url(std::string("AA") + alphabet[i]).has_value() == (i % 4 == 0));
    CHECK(decode_base64url(std::string("AAA") + alphabet[i]).has_value());
  }
}

}  // namespace
}  // namespace weir::jwt
