// Well-formed UTF-8, by the table of Unicode (chapter 3, D92): no overlong forms, no surrogates,
// nothing above U+10FFFF.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/eight_bytes.hpp"

namespace weir {

struct Utf8Step {
  std::size_t length = 1;  ///< in bytes; never more than the text has
  bool well_formed = false;
};

/// Returns the sequence that `text` starts with, or the longest ill-formed start of one, which is
/// replaced by a single U+FFFD (Unicode, "Substitution of Maximal Subparts"). `text` must not be
/// empty.
constexpr Utf8Step next_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {.length = 1, .well_formed = true};
  if (first < 0xc2 || first > 0xf4) return {};
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const unsigned char second_from = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char second_to = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (text.size() < 2 || byte(1) < second_from || byte(1) > second_to) return {};
  for (std::size_t i = 2; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0) != 0x80) return {.length = i};
  }
  return {.length = length, .well_formed = true};
}

/// Returns true if all of `text` is well-formed. Nearly all texts are ASCII: eight characters are
/// examined at once.
inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8 && (eight_bytes(text.data()) & in_each_byte(0x80)) == 0) {
      text.remove_prefix(8);
      continue;
    }
    const Utf8Step step = next_utf8(text);
    if (!step.well_formed) return false;
    text.remove_prefix(step.length);
  }
  return true;
}

}  // namespace weir
