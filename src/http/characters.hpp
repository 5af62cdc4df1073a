// Classes of characters in HTTP: ASCII case, digits, tokens and field values (RFC 9110 sections
// 5.6.2 and 5.5). Independent of the locale; pure.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace weir::http {

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_alpha(char c) {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}
constexpr bool is_white_space(char c) {
  return c == ' ' || c == '\t';
}
/// A control character other than HTAB; NUL, CR and LF are among them. Bytes from 0x80 (obs-text)
/// are not.
constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

/// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The character that an escape (%2F) at the start of `text` stands for; -1 if there is none.
constexpr int escape_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// A table by byte: letters, digits and `marks`.
constexpr std::array<bool, 256> alphanumeric_or(std::string_view marks) {
  std::array<bool, 256> table{};
  for (const char c : marks)
    table[static_cast<unsigned char>(c)] = true;
  for (int byte = 0; byte < 128; ++byte) {
    const auto c = static_cast<char>(byte);
    if (is_digit(c) || is_alpha(c)) table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

inline constexpr auto token_characters = alphanumeric_or("!#$%&'*+-.^_`|~");

constexpr bool is_token_character(char c) {
  return token_characters[static_cast<unsigned char>(c)];
}
constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}
constexpr bool has_lower_case(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}
/// True if the text has no control character other than HTAB. RFC 9110 section 5.5 permits
/// obs-text.
constexpr bool is_field_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_control);
}

/// Returns the text without spaces and tabs at both ends (OWS).
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_white_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back()))
    text.remove_suffix(1);
  return text;
}

}  // namespace weir::http
