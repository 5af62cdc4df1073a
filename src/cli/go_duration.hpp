// The durations of Go (time.ParseDuration), as envoyproxy/ratelimit reads them. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace weir::cli {

/// Reads `1h30m`, `1.5s` or `0`. Rounds up to microseconds. Nothing if it is no such text, is
/// negative, or is longer than 10 years.
std::optional<Duration> go_duration(std::string_view text);

}  // namespace weir::cli
