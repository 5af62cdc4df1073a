#include "identity/blanks.hpp"

#include <algorithm>
#include <array>

namespace weir::identity {
namespace {

constexpr bool is_ascii_blank(char c) {
  return c == ' ' || c == '\0' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

constexpr std::array<std::string_view, 20> other_blanks{
    "\xc2\x85",      // U+0085 NEL
    "\xc2\xa0",      // U+00A0 NBSP
    "\xe1\x9a\x80",  // U+1680
    "\xe2\x80\x80",  // U+2000 to U+200A
    "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85",
    "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a",
    "\xe2\x80\xa8",  // U+2028 line separator
    "\xe2\x80\xa9",  // U+2029 paragraph separator
    "\xe2\x80\xaf",  // U+202F
    "\xe2\x81\x9f",  // U+205F
    "\xe3\x80\x80",  // U+3000
    "\xef\xbb\xbf",  // U+FEFF byte order mark
};

/// The size of the blank for which `is_at_end` returns true; 0 without one.
template <class IsAtEnd>
std::size_t blank_size(char end, IsAtEnd is_at_end) {
  if (is_ascii_blank(end)) return 1;
  if (static_cast<unsigned char>(end) < 0x80) return 0;
  const auto found = std::find_if(other_blanks.begin(), other_blanks.end(), is_at_end);
  return found == other_blanks.end() ? 0 : found->size();
}

std::size_t blank_in_front(std::string_view text) {
  if (text.empty()) return 0;
  return blank_size(text.front(), [&](std::string_view blank) { return text.starts_with(blank); });
}

std::size_t blank_at_back(std::string_view text) {
  if (text.empty()) return 0;
  return blank_size(text.back(), [&](std::string_view blank) { return text.ends_with(blank); });
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  text = without_unicode_blanks(text);
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string_view without_unicode_blanks(std::string_view text) {
  while (const std::size_t size = blank_in_front(text))
    text.remove_prefix(size);
  while (const std::size_t size = blank_at_back(text))
    text.remove_suffix(size);
  return text;
}

}  // namespace weir::identity
