// Finds the bytes that end a run: of a string, of a line, of a value that is skipped. Pure; no
// allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <emmintrin.h>

#include "base/eight_bytes.hpp"

namespace weir::usage {

/// Sixteen characters. Masks have a bit for each; the lowest is that of the first.
class SixteenBytes {
 public:
#ifdef __SSE2__
  explicit SixteenBytes(const char* at) {
    std::memcpy(&bytes_, at, sizeof bytes_);
  }

  /// Returns the mask of the characters that are `c`.
  std::uint32_t equal_to(char c) const {
    return mask_of(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(c)));
  }
  /// Returns the characters with these bits set in each.
  SixteenBytes with(char bits) const {
    return SixteenBytes(_mm_or_si128(bytes_, _mm_set1_epi8(bits)));
  }

 private:
  explicit SixteenBytes(__m128i bytes) : bytes_(bytes) {}
  static std::uint32_t mask_of(__m128i equal) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
  }

  __m128i bytes_;
#else
  explicit SixteenBytes(const char* at) : first_(word(at)), second_(word(at + 8)) {}

  std::uint32_t equal_to(char c) const {
    const std::uint64_t all = in_each_byte(static_cast<unsigned char>(c));
    return mask_of(first_ ^ all) | mask_of(second_ ^ all) << 8;
  }
  SixteenBytes with(char bits) const {
    SixteenBytes changed = *this;
    changed.first_ |= in_each_byte(static_cast<unsigned char>(bits));
    changed.second_ |= in_each_byte(static_cast<unsigned char>(bits));
    return changed;
  }

 private:
  /// Loads eight characters; the first is the lowest byte.
  static std::uint64_t word(const char* at) {
    if constexpr (std::endian::native == std::endian::little) return eight_bytes(at);
    std::uint64_t bytes = 0;
    for (int i = 7; i >= 0; --i)
      bytes = bytes << 8 | static_cast<unsigned char>(at[i]);
    return bytes;
  }
  /// The mask of the bytes that are zero (Warren, "Hacker's Delight", section 6-1; exact for all).
  static std::uint32_t mask_of(std::uint64_t bytes) {
    const std::uint64_t low_bits = in_each_byte(0x7f);
    const std::uint64_t zeros = ~(((bytes & low_bits) + low_bits) | bytes | low_bits);
    return static_cast<std::uint32_t>((zeros >> 7) * 0x0102'0408'1020'4080 >> 56);
  }

  std::uint64_t first_;
  std::uint64_t second_;
#endif
};

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
