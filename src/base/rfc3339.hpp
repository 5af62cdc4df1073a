// Instants as text: RFC 3339, `2026-12-01T00:00:00Z`. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace weir {

/// Parses a date and a time with Z or an offset (RFC 3339 section 5.6). A fraction may have up to
/// any number of digits, of which six count. Empty for other text, also for a date that does not
/// exist and for a leap second.
std::optional<Instant> parse_rfc3339(std::string_view text);

/// Writes a time of the years 0 to 9999 in UTC: with microseconds, or without a fraction if it is a
/// whole second.
std::string to_rfc3339(Instant at);

}  // namespace weir
