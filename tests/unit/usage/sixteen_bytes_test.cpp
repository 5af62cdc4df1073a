#include <array>
#include <random>

#include "catch.hpp"
#include "usage/find_byte.hpp"

namespace weir::usage {
namespace {

TEST_CASE("sixteen characters are compared as one by one") {
  std::mt19937 random(1);
  std::array<char, 16> text{};
  for (int round = 0; round < 10'000; ++round) {
    // Neighbours of the value that is looked for, so that a carry into the next byte would show.
    const char wanted = static_cast<char>(random());
    for (char& c : text)
      c = static_cast<char>(wanted + static_cast<int>(random() % 3) - 1);
    std::uint32_t equal = 0;
    std::uint32_t equal_in_lower_case = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      equal |= std::uint32_t{text[i] == wanted} << i;
      equal_in_lower_case |= std::uint32_t{static_cast<char>(text[i] | 0x20) == wanted} << i;
    }
    const SixteenBytes bytes(text.data());
    REQUIRE(bytes.equal_to(wanted) == equal);
    REQUIRE(bytes.with(0x20).equal_to(wanted) == equal_in_lower_case);
  }
}

}  // namespace
}  // namespace weir::usage
