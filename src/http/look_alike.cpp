#include "http/look_alike.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::http {
namespace {

constexpr auto plain_characters = alphanumeric_or("-");

constexpr char folded(char c) {
  return is_digit(c) || is_alpha(c) ? to_lower(c) : '_';
}

/// True if one of eight token characters is not in plain_characters. With bit 5 set, the others
/// among the token characters are below "-", ".", "`", or above "z".
constexpr bool has_punctuation(std::uint64_t eight) {
  const std::uint64_t low = eight | in_each_byte(0x20);
  const std::uint64_t above_z = (low + in_each_byte(0x7f - 'z')) & in_each_byte(0x80);
  return (less_than(low, '-') | zeros_in(low ^ in_each_byte('.')) |
          zeros_in(low ^ in_each_byte('`')) | above_z) != 0;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  constexpr std::size_t word = 8;
  if (name.size() < word) {
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return plain_characters[static_cast<unsigned char>(c)]; });
  }
  const std::size_t last = name.size() - word;
  for (std::size_t at = 0; at < last; at += word) {
    if (has_punctuation(eight_bytes(name.data() + at))) return false;
  }
  return !has_punctuation(eight_bytes(name.data() + last));
}

bool are_one_variable(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return folded(x) == folded(y); });
}

bool is_look_alike(std::string_view name, std::string_view of) {
  return are_one_variable(name, of) && !iequals(name, of);
}

}  // namespace weir::http
