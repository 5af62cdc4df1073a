// Appends numbers to a flat buffer without a locale, a format string or an allocation of their own.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>

namespace weir::http {

template <int base = 10, std::integral Number>
void append_number(std::string& out, Number number) {
  char digits[66];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));  // by iterators it is slower
}

}  // namespace weir::http
