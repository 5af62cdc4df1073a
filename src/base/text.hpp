// Reads the parts of a text: up to a separator, and numbers. Pure; thread-safe.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

namespace weir {

/// Removes the text before the next separator, and the separator, from `rest`. Returns that text;
/// nothing if there is no separator.
inline std::optional<std::string_view> take_before(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return taken;
}

/// The same, but takes all of the text if there is no separator.
inline std::string_view take_until(std::string_view& rest, char separator) {
  const auto taken = take_before(rest, separator);
  return taken ? *taken : std::exchange(rest, {});
}

/// Reads a number that is all of the text: digits, with a minus sign if the type has negative
/// numbers. Returns nothing for other text, and for a number that the type does not have.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace weir
