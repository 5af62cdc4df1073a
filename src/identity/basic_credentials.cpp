#include "identity/basic_credentials.hpp"

#include <algorithm>
#include <cstddef>

#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::identity {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_canonical_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const std::size_t size = text.size();
  const auto is_digit = [](char c) { return digits.find(c) != std::string_view::npos; };
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  text.remove_suffix(padding);
  if (!std::all_of(text.begin(), text.end(), is_digit)) return false;
  // The last digit before "=" has two unused bits, before "==" four.
  const std::size_t unused = padding == 2 ? 15 : (padding == 1 ? 3 : 0);
  return size == 0 || (digits.find(text.back()) & unused) == 0;
}

}  // namespace

bool is_clear_if_basic(std::string_view field_value) {
  constexpr std::string_view scheme = "basic";
  const std::size_t end = std::min(field_value.find_first_of(" \t"), field_value.size());
  if (!http::iequals(field_value.substr(0, end), scheme)) return true;
  return is_canonical_base64(http::trimmed(field_value.substr(end)));
}

}  // namespace weir::identity
