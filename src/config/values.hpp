// Parses scalar values: whole numbers, durations, sizes, rates.
//
// All are exact whole numbers; values that would overflow or need rounding are refused with a
// message that shows what to write instead. No message contains the value: the caller decides
// whether it may be shown. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "rules/policy.hpp"

namespace weir::config {

/// Decimal digits with an optional minus sign.
Result<std::int64_t> parse_integer(std::string_view text);
/// Parses a duration: `250us`, `20ms`, `5s`, `1m`, `1h`, `1d`.
Result<Duration> parse_duration(std::string_view text);
/// Parses a size in bytes: `512`, `512B`, `8KiB`, `1MiB`, `1GiB`.
Result<std::int64_t> parse_size(std::string_view text);
/// Parses a rate: `100/1m`, or `5/s` for one unit of time.
Result<rules::Rate> parse_rate(std::string_view text);
/// Parses a decimal fraction: `0.25`, `1`.
Result<double> parse_fraction(std::string_view text);

/// Returns the shortest form that parse_duration() reads: `90s` and not `90000ms`.
std::string format_duration(Duration duration);
std::string format_size(std::int64_t bytes);

}  // namespace weir::config
