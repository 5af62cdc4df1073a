#include "base/eight_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include "catch.hpp"
#include "seed.hpp"

namespace weir {
namespace {

using Bytes = std::array<unsigned char, 8>;

std::uint64_t word_of(const Bytes& bytes) {
  return std::bit_cast<std::uint64_t>(bytes);
}

/// The position of the lowest high bit set; 8 if none is.
int first_in(std::uint64_t marks) {
  return std::countr_zero(marks) / 8;
}

template <class Condition>
int first_of(const Bytes& bytes, Condition&& condition) {
  return static_cast<int>(std::find_if(bytes.begin(), bytes.end(), condition) - bytes.begin());
}

unsigned char small(unsigned char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c + 32) : c;
}

TEST_CASE("eight bytes together give the result of eight single bytes") {
  const TestSeed seed;
  std::mt19937 random{seed};
  // Few different ones, those next to the bounds among them.
  const std::array<unsigned char, 24> kinds{0,   1,    8,    9,    0x1f, 0x20, 0x21, '@',
                                            'A', 'B',  'Y',  'Z',  '[',  '`',  'a',  'z',
                                            '{', 0x7e, 0x7f, 0x80, 0x81, 0xc1, 0xda, 0xff};
  for (int i = 0; i < 200'000; ++i) {
    Bytes bytes{};
    for (auto& byte : bytes)
      byte =
          random() % 2 == 0 ? kinds[random() % kinds.size()] : static_cast<unsigned char>(random());
    const std::uint64_t word = word_of(bytes);
    REQUIRE(first_in(zeros_in(word)) == first_of(bytes, [](auto b) { return b == 0; }));
    for (const unsigned char bound : Bytes{1, 2, 8, 0x20, 0x30, 0x40, 0x7f, 0x80})
      REQUIRE(first_in(less_than(word, bound)) ==
              first_of(bytes, [=](auto b) { return b < bound; }));
    Bytes lower{};
    std::transform(bytes.begin(), bytes.end(), lower.begin(), small);
    REQUIRE(lower_case(word) == word_of(lower));
  }
}

TEST_CASE("a byte in each of eight") {
  CHECK(in_each_byte(0x20) == 0x2020202020202020);
  CHECK(eight_bytes("abcdefgh!") == word_of({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}));
}

}  // namespace
}  // namespace weir
