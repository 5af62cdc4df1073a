// Finds the bytes that end a run: of a string, of a line, of a value that is skipped. Pure; no
// allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "usage/sixteen_bytes.hpp"

namespace weir::usage {

/// Returns the first `a` or `b` in [at, end), or `end`.
template <char a, char b>
inline const char* find_either(const char* at, const char* end) {
  for (; end - at >= 16; at += 16) {
    const SixteenBytes bytes(at);
    const std::uint32_t found = bytes.equal_to(a) | bytes.equal_to(b);
    if (found != 0) return at + std::countr_zero(found);
  }
  while (at != end && *at != a && *at != b)
    ++at;
  return at;
}

/// The brackets of objects and arrays differ in one bit only.
inline constexpr char bracket_bit = '{' ^ '[';
static_assert(bracket_bit == ('}' ^ ']') && (bracket_bit & (bracket_bit - 1)) == 0);

constexpr bool is_opening(char c) {
  return (c | bracket_bit) == '{';
}
constexpr bool is_closing(char c) {
  return (c | bracket_bit) == '}';
}

/// Returns the first quotation mark or bracket in [at, end), or `end`.
inline const char* find_structure(const char* at, const char* end) {
  for (; end - at >= 16; at += 16) {
    const SixteenBytes bytes(at);
    const SixteenBytes folded = bytes.with(bracket_bit);
    const std::uint32_t found = bytes.equal_to('"') | folded.equal_to('{') | folded.equal_to('}');
    if (found != 0) return at + std::countr_zero(found);
  }
  while (at != end && *at != '"' && !is_opening(*at) && !is_closing(*at))
    ++at;
  return at;
}

/// The structure of 64 characters of JSON text: masks with a bit for each.
struct Block {
  static constexpr std::ptrdiff_t size = 64;

  explicit Block(const char* at) {
    for (int i = 0; i < size; i += 16) {
      const SixteenBytes bytes(at + i);
      const SixteenBytes folded = bytes.with(bracket_bit);
      quotes |= std::uint64_t{bytes.equal_to('"')} << i;
      backslashes |= std::uint64_t{bytes.equal_to('\\')} << i;
      openings |= std::uint64_t{folded.equal_to('{')} << i;
      closings |= std::uint64_t{folded.equal_to('}')} << i;
    }
  }

  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t openings = 0;
  std::uint64_t closings = 0;
};

/// Sets each bit that has an odd number of bits set at or below it: with quotation marks, the
/// characters of strings and the marks that open them.
constexpr std::uint64_t prefix_parity(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2)
    bits ^= bits << shift;
  return bits;
}

}  // namespace weir::usage
