// The hash slots of Redis Cluster: CRC-16/XMODEM of the hash tag of a key, or of the whole key if
// it has none, modulo 16384 (Redis Cluster specification, "Key distribution model" and "Hash
// tags"). Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/siphash.hpp"
#include "store/split_requests.hpp"

namespace weir::redis {

using HashSlot = std::uint16_t;
inline constexpr std::size_t hash_slots = 16'384;

/// CRC-16/XMODEM: the polynomial 0x1021, no reflection, initial value 0.
std::uint16_t crc16(std::string_view bytes);

HashSlot slot_of_key(std::string_view key);
/// The slot of all keys of an identity: their hash tag is the identity in hexadecimal digits.
HashSlot slot_of(const Hash128& identity);

}  // namespace weir::redis
