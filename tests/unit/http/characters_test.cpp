#include "http/characters.hpp"

#include <string>

#include "catch.hpp"

namespace weir::http {
namespace {

TEST_CASE("F4: a field name is a token") {
  for (const char* name : {"host", "X-Test", "!#$%&'*+-.^_`|~", "a1"}) {
    INFO(name);
    CHECK(is_token(name));
  }
  for (const char* name :
       {"", "Bad[Name", "a b", "a:", "x\t", "caf\xc3\xa9", "a\x7f", "(x)", "a/b", "\"q\""}) {
    INFO(name);
    CHECK_FALSE(is_token(name));
  }
}

TEST_CASE("F3: a field value holds no control character but HTAB") {
  for (int byte = 0; byte < 256; ++byte) {
    INFO(byte);
    const bool allowed = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    CHECK(is_field_value(std::string{"a"} + static_cast<char>(byte) + "b") == allowed);
  }
  CHECK(is_field_value(""));
}

TEST_CASE("hexadecimal digits have their values and nothing else does") {
  const std::string_view lower = "0123456789abcdef";
  const std::string_view upper = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    INFO(byte);
    const auto c = static_cast<char>(byte);
    const auto at = std::min(lower.find(c), upper.find(c));
    CHECK(hex_value(c) == (at == std::string_view::npos ? -1 : static_cast<int>(at)));
  }
}

TEST_CASE("an escape is a percent sign and two hexadecimal digits") {
  CHECK(escape_at("%2Fx") == '/');
  CHECK(escape_at("%2f") == '/');
  CHECK(escape_at("%ff") == 0xff);
  for (const char* text : {"", "%", "%2", "%2g", "%g2", "2F", "x%2F"})
    CHECK(escape_at(text) == -1);
}

TEST_CASE("trimming takes spaces and tabs off both ends only") {
  CHECK(trimmed(" \t a b \t") == "a b");
  CHECK(trimmed(" \t ").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed("\ra\n") == "\ra\n");
}

}  // namespace
}  // namespace weir::http
