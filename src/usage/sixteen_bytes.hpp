// Compares sixteen characters together: with SSE2, or as two words of eight.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/eight_bytes.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

}  // namespace weir::usage
