#include "cli/go_duration.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "http/characters.hpp"

namespace weir::cli {
namespace {

constexpr std::int64_t most_ns = std::int64_t{3650} * 24 * 3600 * 1'000'000'000;

/// The longer names first. The micro sign is U+00B5, or the letter U+03BC.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> units_ns{{
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},
    {"\u03bcs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

/// Takes the unit at the beginning; 0: there is none.
std::int64_t take_unit(std::string_view& text) {
  for (const auto& [name, ns] : units_ns) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return ns;
  }
  return 0;
}

/// A number before its unit.
struct Decimal {
  std::int64_t whole = 0;
  std::string_view fraction;
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  const auto take_digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && http::is_digit(text[count]))
      ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
  };
  Decimal number;
  const std::string_view whole = take_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits();
  }
  if (whole.empty() && number.fraction.empty()) return std::nullopt;
  for (const char digit : whole) {
    if (number.whole > most_ns / 10) return std::nullopt;
    number.whole = number.whole * 10 + (digit - '0');
  }
  return number;
}

}  // namespace

std::optional<Duration> go_duration(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  std::int64_t sum_ns = 0;
  while (!text.empty()) {
    const auto number = take_decimal(text);
    const std::int64_t unit_ns = take_unit(text);
    if (!number || unit_ns == 0 || number->whole > (most_ns - sum_ns) / unit_ns)
      return std::nullopt;
    sum_ns += number->whole * unit_ns;
    std::int64_t part_ns = unit_ns;
    std::int64_t rest_ns = 0;
    for (const char digit : number->fraction) {
      rest_ns += (digit - '0') * (part_ns / 10);
      part_ns /= 10;
    }
    sum_ns += rest_ns;
  }
  return std::chrono::ceil<Duration>(std::chrono::nanoseconds(sum_ns));
}

}  // namespace weir::cli
