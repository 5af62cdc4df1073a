#include "rls/whole_number.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/text.hpp"

namespace weir::rls {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Removes the digits that `rest` starts with, and returns them.
std::string_view take_digits(std::string_view& rest) {
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

bool take_one(std::string_view& rest, std::string_view characters) {
  if (rest.empty() || characters.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

/// The parts of a number of JSON.
struct DecimalNumber {
  bool is_negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::optional<DecimalNumber> parts_of(std::string_view rest) {
  DecimalNumber number;
  number.is_negative = take_one(rest, "-");
  number.whole = take_digits(rest);
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole.front() == '0'))
    return std::nullopt;
  if (take_one(rest, ".")) {
    number.fraction = take_digits(rest);
    if (number.fraction.empty()) return std::nullopt;
  }
  if (take_one(rest, "eE")) {
    const bool is_negative = take_one(rest, "-");
    if (!is_negative) take_one(rest, "+");
    const std::string_view digits = take_digits(rest);
    if (digits.empty()) return std::nullopt;
    // An exponent beyond 32 bits is as good as any that is too large.
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::int64_t exponent = std::min(parse_number<std::int64_t>(digits).value_or(most), most);
    number.exponent = is_negative ? -exponent : exponent;
  }
  if (!rest.empty()) return std::nullopt;
  return number;
}

/// Appends a decimal digit to `value`. Returns false if the result does not fit.
bool append_digit(std::uint64_t& value, unsigned digit) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (value > (most - digit) / 10) return false;
  value = value * 10 + digit;
  return true;
}

}  // namespace

std::optional<WholeNumber> read_whole_number(std::string_view text) {
  const auto number = parts_of(text);
  if (!number) return std::nullopt;
  // The value is the whole number of the digits of both parts, times 10 to the power of `scale`.
  std::int64_t scale = number->exponent - static_cast<std::int64_t>(number->fraction.size());
  std::uint64_t value = 0;
  std::int64_t pending_zeros = 0;  // digits 0, which are not appended before another one follows
  for (const std::string_view digits : {number->whole, number->fraction}) {
    for (const char c : digits) {
      ++pending_zeros;
      if (c == '0') continue;
      for (; pending_zeros > 1; --pending_zeros) {
        if (!append_digit(value, 0)) return std::nullopt;
      }
      pending_zeros = 0;
      if (!append_digit(value, static_cast<unsigned>(c - '0'))) return std::nullopt;
    }
  }
  if (value == 0) return WholeNumber{};
  scale += pending_zeros;
  if (scale < 0) return std::nullopt;
  for (; scale > 0; --scale) {
    if (!append_digit(value, 0)) return std::nullopt;
  }
  return WholeNumber{.is_negative = number->is_negative, .magnitude = value};
}

}  // namespace weir::rls
