// The names of types in `typ` and `cty` (RFC 7515 sections 4.1.9 and 4.1.10).
#pragma once

#include <algorithm>
#include <string_view>

namespace weir::jwt {

/// Compares without case, and without the prefix `application/` of either text: `at+jwt`,
/// `AT+JWT` and `application/at+jwt` are the same type (RFC 8725 section 3.11).
inline bool is_type(std::string_view text, std::string_view expected) {
  constexpr auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto equal = [&](std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
  };
  constexpr std::string_view prefix = "application/";
  const auto subtype = [&](std::string_view type) {
    return equal(type.substr(0, prefix.size()), prefix) ? type.substr(prefix.size()) : type;
  };
  return equal(subtype(text), subtype(expected));
}

}  // namespace weir::jwt
