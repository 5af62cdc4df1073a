#include "json/write.hpp"

#include <cstddef>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::json {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST_CASE("JSON strings escape the characters that JSON requires") {
  CHECK(json_string("") == R"("")");
  CHECK(json_string("a\"\\/b") == R"("a\"\\/b")");
  CHECK(json_string("\n\r\t\b\f") == R"("\n\r\t\u0008\u000c")");
  CHECK(json_string(std::string_view{"\0\x1f\x7f", 3}) == "\"\\u0000\\u001f\x7f\"");
  CHECK(json_string("\u00e9\u20ac\U0001F30D") == "\"\u00e9\u20ac\U0001F30D\"");
}

TEST_CASE("characters that terminals and line readers interpret are escaped") {
  CHECK(json_string("\u0080\u009b31m\u0085\u009f") == R"("\u0080\u009b31m\u0085\u009f")");
  CHECK(json_string("a\u2028b\u2029c") == R"("a\u2028b\u2029c")");
  CHECK(json_string("\u00a0\u2027\u202a") == "\"\u00a0\u2027\u202a\"");
}

TEST_CASE("a character that needs an escape is found in any position") {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        // Plain characters on both sides, which do not belong to the text.
        std::string around(3 * size, ' ');
        around[size + at] = static_cast<char>(byte);
        const std::string shown = json_string(std::string_view(around).substr(size, size));
        std::string text = around.substr(size, size);
        if (byte < 0x80) {
          REQUIRE(nlohmann::json::parse(shown).get<std::string>() == text);
        } else {
          text.replace(at, 1, "\uFFFD");
          REQUIRE(shown == "\"" + text + "\"");
        }
      }
    }
  }
}

TEST_CASE("invalid UTF-8 becomes U+FFFD, one for each maximal subpart") {
  struct Row {
    std::string_view bytes;
    const char* shown;
  };
  const Row rows[] = {
      {"\x80", "\uFFFD"},
      {"\xff", "\uFFFD"},
      {"a\xc3", "a\uFFFD"},
      {"\xc3(", "\uFFFD("},
      {"\xc0\xaf", "\uFFFD\uFFFD"},                      // overlong
      {"\xe0\x80\xaf", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
      {"\xf0\x9f\x8c!", "\uFFFD!"},                      // cut short
      {"\xe2\x82", "\uFFFD"},
      // Unicode, table 3-8
      {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\x41"},
  };
  for (const Row& row : rows) {
    INFO(row.shown);
    CHECK(json_string(row.bytes) == "\"" + std::string{row.shown} + "\"");
  }
}

TEST_CASE("any quoted text is valid JSON, and valid text is parsed to the same text") {
  const TestSeed seed;
  std::mt19937 random{seed};
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random());
    REQUIRE(nlohmann::json::accept(json_string(bytes)));
    for (char& c : bytes)
      c = static_cast<char>(c & 0x7f);
    REQUIRE(nlohmann::json::parse(json_string(bytes)).get<std::string>() == bytes);
  }
}

}  // namespace
}  // namespace weir::json
