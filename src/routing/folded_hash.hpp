// A hash that ignores ASCII letter case and reads eight characters at a time.
//
// Not keyed: only for tables whose keys the configuration chooses. Texts that a client sends are
// looked up and never inserted, so no client can make a lookup slow. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/eight_bytes.hpp"

namespace weir::routing {

/// The low bits are as evenly distributed as the high ones.
inline std::uint64_t folded_hash(std::string_view text) {
  constexpr std::size_t word = 8;
  constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
  const auto mixed = [](std::uint64_t hash, std::uint64_t bytes) {
    hash = (hash ^ lower_case(bytes)) * odd;
    return hash ^ (hash >> 32U);
  };
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = size;
  if (size >= word) {
    for (const char* const last = at + size - word; at < last; at += word)
      hash = mixed(hash, eight_bytes(at));
    return mixed(hash, eight_bytes(text.data() + size - word));
  }
  std::uint64_t bytes = 0;
  if (size >= word / 2) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    bytes = std::uint64_t{last} << 32U | first;
  } else {
    for (std::size_t i = 0; i < size; ++i)
      bytes = bytes << 8U | static_cast<unsigned char>(at[i]);
  }
  return mixed(hash, bytes);
}

}  // namespace weir::routing
