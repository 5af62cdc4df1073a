#include "base/hash_text.hpp"

#include <charconv>
#include <cstdint>

namespace weir {

std::optional<Hash128> hash_from_hex(std::string_view digits) {
  constexpr std::size_t half = 16;
  if (digits.size() != 2 * half) return std::nullopt;
  Hash128 hash;
  const auto parse = [](std::string_view part, std::uint64_t& to) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to, 16);
    return error == std::errc{} && end == part.data() + part.size();
  };
  if (!parse(digits.substr(0, half), hash.high) || !parse(digits.substr(half), hash.low))
    return std::nullopt;
  return hash;
}

}  // namespace weir
