#include "usage/find_byte.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "catch.hpp"
#include "seed.hpp"

namespace weir::usage {
namespace {

TEST_CASE("the first of the bytes is found at every position, at every size") {
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      INFO(size << " bytes, at " << at);
      // 'z' and DEL differ in one bit from brackets, '#' from the quotation mark.
      std::string text(size, "z\x7f#"[at % 3]);
      if (at < size) text[at] = "\"\\{}[]"[at % 6];
      const char* const end = text.data() + size;
      const std::string_view view = text;
      const auto expected = [&](std::string_view bytes) {
        return text.data() + std::min(view.find_first_of(bytes), size);
      };
      REQUIRE(find_structure(text.data(), end) == expected("\"{}[]"));
      REQUIRE(find_either<'"', '\\'>(text.data(), end) == expected("\"\\"));
    }
  }
}

TEST_CASE("a block has a bit for each of its 64 bytes") {
  const TestSeed seed;
  std::mt19937 random{seed};
  for (int round = 0; round < 2000; ++round) {
    std::string text(64, '\0');
    for (char& c : text)
      c = random() % 2 == 0 ? static_cast<char>(random()) : "\"\\{}[]"[random() % 6];
    const Block block(text.data());
    bool is_odd = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto bit = [&](std::uint64_t mask) { return (mask >> i & 1) != 0; };
      const char c = text[i];
      INFO("byte " << i << " of " << text);
      REQUIRE(bit(block.quotes) == (c == '"'));
      REQUIRE(bit(block.backslashes) == (c == '\\'));
      REQUIRE(bit(block.openings) == (c == '{' || c == '['));
      REQUIRE(bit(block.closings) == (c == '}' || c == ']'));
      is_odd ^= c == '"';
      REQUIRE(bit(prefix_parity(block.quotes)) == is_odd);
    }
  }
}

}  // namespace
}  // namespace weir::usage
