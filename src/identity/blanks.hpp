// Blanks that services remove from the ends of a value, which must not make another client. Pure.
#pragma once

#include <string_view>

namespace weir::identity {

/// White space of ASCII and Latin-1, which services see in a field: Python strips NEL and NBSP.
constexpr bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '\x85' || c == '\xa0';
}

/// Returns the value of a field without blanks at its ends, those of UTF-8 and of is_blank():
/// services decode fields in either way.
std::string_view without_blanks(std::string_view text);

/// Returns UTF-8 text without the blanks at its ends that str.strip() of Python, trim() of
/// ECMAScript or trim() of PHP removes: for a decoded value. These are the control characters from
/// 09 to 0D and from 1C to 1F, NUL, the space, NEL, NBSP, the byte order mark, and the characters
/// of Unicode's categories Zs, Zl and Zp. A byte that is not UTF-8 is no blank.
std::string_view without_unicode_blanks(std::string_view text);

}  // namespace weir::identity
