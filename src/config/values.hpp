// The small languages inside scalar values: whole numbers, durations, sizes, rates.
//
// All are exact whole numbers; what would overflow or needs rounding is refused with a message that
// says what to write instead. No message repeats the value: the caller knows whether it may be
// shown. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "rules/policy.hpp"

namespace weir::config {

/// Decimal digits with an optional minus sign.
Result<std::int64_t> parse_integer(std::string_view text);
/// `250us 20ms 5s 1m 1h 1d`
Result<Duration> parse_duration(std::string_view text);
/// `512`, `512B`, `8KiB`, `1MiB`, `1GiB`: bytes
Result<std::int64_t> parse_size(std::string_view text);
/// `100/1m`, or `5/s` with one unit of time
Result<rules::Rate> parse_rate(std::string_view text);
/// A decimal fraction as `0.25` or `1`.
Result<double> parse_fraction(std::string_view text);

/// The shortest of the forms parse_duration() reads: `90s` and not `90000ms`.
std::string format_duration(Duration duration);
std::string format_size(std::int64_t bytes);

}  // namespace weir::config
