// Text in columns: a character is one code point of UTF-8. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::cli {

/// Returns the first characters of the text, at most `count`.
inline std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; };
  while (end < text.size() && (continues() || count-- > 0))
    ++end;
  return text.substr(0, end);
}

}  // namespace weir::cli
