// Numbers into a flat buffer without a locale, a format string or an allocation of their own.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace weir::http {

template <int base = 10, std::integral Number>
void append_number(std::string& out, Number number) {
  char digits[66];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out.append(digits, end);
}

}  // namespace weir::http
