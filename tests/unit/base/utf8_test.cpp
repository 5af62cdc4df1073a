#include "base/utf8.hpp"

#include <string>

#include "catch.hpp"

namespace weir {
namespace {

/// The UTF-8 of a code point below 2^21, without any check: also of those that must not be encoded.
std::string encoded(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  if (code < 0x10000)
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)),
          byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
}

TEST_CASE("every code point but the surrogates is one well-formed sequence") {
  for (char32_t code = 0; code < 0x120000; ++code) {
    const bool is_scalar = code < 0xd800 || (code > 0xdfff && code < 0x110000);
    const std::string text = encoded(code);
    const Utf8Step step = next_utf8(text + "\x80");
    if (step.well_formed != is_scalar || (is_scalar && step.length != text.size()))
      FAIL("U+" << std::hex << static_cast<std::uint32_t>(code));
  }
}

TEST_CASE("an ill-formed sequence ends where no well-formed one can go on") {
  struct Row {
    std::string_view text;
    std::size_t length;
  };
  const Row rows[] = {
      {"\x80", 1},
      {"\xbf\xbf", 1},
      {"\xc0\x80", 1},  // overlong
      {"\xc1\xbf", 1},  // overlong
      {"\xc2", 1},
      {"\xc2\x7f", 1},
      {"\xc2\xc0", 1},
      {"\xe0\x9f\xbf", 1},  // overlong
      {"\xe0\xa0", 2},
      {"\xe0\xa0\x7f", 2},
      {"\xed\xa0\x80", 1},  // surrogate
      {"\xef\xbf\xc0", 2},
      {"\xf0\x8f\xbf\xbf", 1},  // overlong
      {"\xf0\x90", 2},
      {"\xf0\x90\x80", 3},
      {"\xf0\x90\x80\x7f", 3},
      {"\xf0\x90\xc0\x80", 2},
      {"\xf4\x90\x80\x80", 1},  // above U+10FFFF
      {"\xf5\x80\x80\x80", 1},
      {"\xff", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Utf8Step step = next_utf8(row.text);
    CHECK_FALSE(step.well_formed);
    CHECK(step.length == row.length);
  }
}

TEST_CASE("a text is well-formed if all of its sequences are") {
  CHECK(is_utf8(""));
  // Before, within and behind the characters that are examined together.
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      const std::string begin(before, 'a');
      const std::string end(after, 'b');
      CAPTURE(before, after);
      CHECK(is_utf8(begin + end));
      CHECK(is_utf8(begin + "\u00fc" + end));
      CHECK(is_utf8(begin + "\U0001F600" + end));
      CHECK_FALSE(is_utf8(begin + "\x80" + end));
      CHECK_FALSE(is_utf8(begin + "\xf0\x9f\x98" + end));
    }
  }
}

}  // namespace
}  // namespace weir
