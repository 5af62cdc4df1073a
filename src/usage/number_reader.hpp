// Reads the characters of one JSON number (RFC 8259 section 6) as they arrive and returns its value
// if it is a whole number: 1500, 1.5e3 and 150000e-2 are 1500.
//
// Exact for any number of digits, in constant memory: only the digits up to the last one that is
// not zero are kept, and 19 of them are either a fraction or more than largest_count. Pure; no
// allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::usage {

/// The largest number of units, 2^53 - 1; what exceeds it counts as this.
inline constexpr std::int64_t largest_count = (std::int64_t{1} << 53) - 1;

class NumberReader {
 public:
  void accept(std::string_view characters);

  /// Returns the value, at most largest_count. Nothing: it is negative, has a fraction, or the
  /// characters are not a JSON number. -0 is 0.
  std::optional<std::int64_t> value() const;

 private:
  enum class State : std::uint8_t {
    start,
    minus,
    zero,  // a leading zero; no digit may follow
    whole,
    point,
    fraction,
    exponent_start,
    exponent_sign,
    exponent,
    malformed,
  };

  State next_state(char c) const;
  void add_digit(int digit);

  State state_ = State::start;
  bool is_negative_ = false;
  bool is_exponent_negative_ = false;
  std::uint64_t significand_ = 0;        ///< valid up to kept_digits
  std::int64_t significant_digits_ = 0;  ///< from the first to the last digit that is not zero
  std::int64_t pending_zeros_ = 0;       ///< after the last digit that is not zero
  std::int64_t decimals_ = 0;            ///< digits after the point
  std::int64_t exponent_ = 0;            ///< without its sign
};

/// Reads a whole text, such as the value of a response field; NumberReader::value().
std::optional<std::int64_t> parse_count(std::string_view text);

}  // namespace weir::usage
