#include "jwt/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace weir::jwt {
namespace {

constexpr std::int64_t longest_plain = 64;                ///< in digits
constexpr std::int64_t largest_exponent = 1'000'000'000;  ///< no text of a JSON number is as long
constexpr std::int64_t last_second = 253'402'300'799;     ///< 9999-12-31T23:59:59Z

/// Clamps what does not fit.
std::int64_t read_exponent(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ec != std::errc{}) value = largest_exponent;
  value = std::min(value, largest_exponent);
  return is_negative ? -value : value;
}

}  // namespace

Decimal read_decimal(std::string_view number) {
  Decimal result;
  result.negative = number.starts_with('-');
  if (result.negative) number.remove_prefix(1);
  if (const auto e = number.find_first_of("eE"); e != std::string_view::npos) {
    result.exponent = read_exponent(number.substr(e + 1));
    number = number.substr(0, e);
  }
  const auto point = std::min(number.find('.'), number.size());
  const std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  result.digits.append(number.substr(0, point)).append(fraction);
  result.exponent -= static_cast<std::int64_t>(fraction.size());

  const auto last = result.digits.find_last_not_of('0');
  if (last == std::string::npos) return {};
  result.exponent += static_cast<std::int64_t>(result.digits.size() - last - 1);
  result.digits.resize(last + 1);
  result.digits.erase(0, result.digits.find_first_not_of('0'));
  return result;
}

std::string canonical_text(const Decimal& number) {
  if (number.digits.empty()) return "0";
  std::string text = number.negative ? "-" : "";
  const auto size = static_cast<std::int64_t>(number.digits.size());
  const auto zeros = [](std::int64_t count) {
    return std::string(static_cast<std::size_t>(count), '0');
  };
  if (number.exponent >= 0 && size + number.exponent <= longest_plain)
    return text + number.digits + zeros(number.exponent);
  if (number.exponent >= 0 || number.exponent < -longest_plain)
    return text + number.digits + 'e' + std::to_string(number.exponent);
  const std::int64_t whole = size + number.exponent;  // the digits before the point
  if (whole <= 0) return text + "0." + zeros(-whole) + number.digits;
  const auto point = static_cast<std::size_t>(whole);
  return text + number.digits.substr(0, point) + '.' + number.digits.substr(point);
}

std::optional<Instant> instant_of(const Decimal& seconds) {
  if (seconds.negative) return std::nullopt;
  if (seconds.digits.empty()) return Instant{};
  const auto size = static_cast<std::int64_t>(seconds.digits.size());
  const std::int64_t places = size + seconds.exponent + 6;  // of the whole microseconds
  if (places <= 0) return Instant{};
  if (places > 18) return std::nullopt;
  std::string digits = seconds.digits;
  digits.resize(static_cast<std::size_t>(places), '0');
  std::int64_t us = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), us);
  const Instant instant = instant_from_us(us);
  if (instant >= Instant{std::chrono::seconds{last_second + 1}}) return std::nullopt;
  return instant;
}

}  // namespace weir::jwt
