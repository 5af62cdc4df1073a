// Examines eight characters together as one word (Warren, "Hacker's Delight", chapter 6).
#pragma once

#include <cstdint>
#include <cstring>

namespace weir {

constexpr std::uint64_t in_each_byte(unsigned char byte) {
  return std::uint64_t{0x0101'0101'0101'0101} * byte;
}

/// Loads eight characters in the order of memory; on little-endian machines the first is the lowest
/// byte.
inline std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// Sets the high bit of each byte that is zero. The lowest bit set is exact; those above it may be
/// false positives.
constexpr std::uint64_t zeros_in(std::uint64_t bytes) {
  return (bytes - in_each_byte(1)) & ~bytes & in_each_byte(0x80);
}

/// Sets the high bit of each byte that is less than `bound`, at most 0x80; exact as zeros_in() is.
constexpr std::uint64_t less_than(std::uint64_t bytes, unsigned char bound) {
  return (bytes - in_each_byte(bound)) & ~bytes & in_each_byte(0x80);
}

/// Replaces upper-case letters by lower-case ones; exact for all eight.
constexpr std::uint64_t lower_case(std::uint64_t bytes) {
  const std::uint64_t low_bits = bytes & in_each_byte(0x7f);
  const std::uint64_t from_a = low_bits + in_each_byte(0x80 - 'A');
  const std::uint64_t behind_z = low_bits + in_each_byte(0x80 - 'Z' - 1);
  const std::uint64_t capitals = (from_a ^ behind_z) & ~bytes & in_each_byte(0x80);
  return bytes | capitals >> 2;
}

}  // namespace weir
