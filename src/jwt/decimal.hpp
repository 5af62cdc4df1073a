// A decimal number of any size, exactly as JSON wrote it. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace weir::jwt {

/// The number digits * 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits;  ///< without zeros at either end; empty: the number is 0
  std::int64_t exponent = 0;
};

/// `number` is a number in the syntax of JSON.
Decimal read_decimal(std::string_view number);

/// Returns one text for equal numbers: `5` for 5, 5.0 and 50e-1. Integers of at most 64 digits and
/// fractions of at most 64 places are written without an exponent, all others as `15e-80`.
std::string canonical_text(const Decimal& number);

/// A NumericDate (RFC 7519 section 2): seconds since the epoch, also with a fraction, which is cut
/// off after the microsecond. Returns nothing for negative numbers and for dates after the year
/// 9999: such a number is usually milliseconds, and the token would never expire.
std::optional<Instant> instant_of(const Decimal& seconds);

}  // namespace weir::jwt
