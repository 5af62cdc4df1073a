#include "redis/hash_slot.hpp"

#include <array>
#include <string>

namespace weir::redis {
namespace {

constexpr std::array<std::uint16_t, 256> crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

constexpr std::uint16_t add_to_crc(std::uint16_t crc, char byte) {
  return static_cast<std::uint16_t>(crc << 8 ^
                                    crc_table[crc >> 8 ^ static_cast<std::uint8_t>(byte)]);
}

std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::uint16_t add_hex_to_crc(std::uint16_t crc, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4)
    crc = add_to_crc(crc, "0123456789abcdef"[number >> shift & 15]);
  return crc;
}

constexpr HashSlot slot_of_crc(std::uint16_t crc) {
  return crc % hash_slots;
}

}  // namespace

std::uint16_t crc16(std::string_view bytes) {
  std::uint16_t crc = 0;
  for (const char byte : bytes)
    crc = add_to_crc(crc, byte);
  return crc;
}

HashSlot slot_of_key(std::string_view key) {
  return slot_of_crc(crc16(hash_tag(key)));
}

HashSlot slot_of(const Hash128& identity) {
  return slot_of_crc(add_hex_to_crc(add_hex_to_crc(0, identity.high), identity.low));
}

}  // namespace weir::redis
