#include "http/request_id.hpp"

#include <algorithm>
#include <chrono>

namespace weir::http {
namespace {

constexpr std::size_t longest_id = 128;
constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.:/+=@").find(c) != std::string_view::npos;
}

/// The two digits of each byte.
constexpr auto hex_of_bytes = [] {
  std::array<std::array<char, 2>, 256> digits{};
  for (std::size_t byte = 0; byte < digits.size(); ++byte)
    digits[byte] = {hex_digits[byte >> 4], hex_digits[byte & 0xf]};
  return digits;
}();

/// Writes the last `bytes` of a number.
constexpr char* put_hex(char* to, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    const auto& digits = hex_of_bytes[number >> shift & 0xff];
    *to++ = digits[0];
    *to++ = digits[1];
  }
  return to;
}

}  // namespace

UuidText uuid_v7(Instant now, std::uint64_t high, std::uint64_t low) {
  const auto ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  constexpr std::uint64_t version = 7;
  constexpr std::uint64_t variant = 0b10;
  UuidText text;
  char* to = put_hex(text.data(), ms >> 16, 4);
  *to++ = '-';
  to = put_hex(to, ms, 2);
  *to++ = '-';
  to = put_hex(to, version << 12 | (high & 0xfff), 2);
  *to++ = '-';
  const std::uint64_t tail = variant << 62 | low >> 2;
  to = put_hex(to, tail >> 48, 2);
  *to++ = '-';
  put_hex(to, tail, 6);
  return text;
}

bool is_request_id(std::string_view value) {
  return !value.empty() && value.size() <= longest_id &&
         std::all_of(value.begin(), value.end(), is_id_character);
}

}  // namespace weir::http
