#include "jwt/base64url.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::jwt {
namespace {

constexpr std::uint8_t not_a_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<std::uint8_t, 256> values{};
  values.fill(not_a_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned int count = 0;  // of the bits that no byte contains yet
  for (const char c : text) {
    const std::uint8_t value = digit_values[static_cast<unsigned char>(c)];
    if (value == not_a_digit) return std::nullopt;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xff);
  }
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace weir::jwt
