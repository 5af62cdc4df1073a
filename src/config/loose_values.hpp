// Guesses the meaning of a value that is not valid: `10/sec`, `1m30s`, `10MB`. For hints only.
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

/// Returns the valid spelling of what the text probably means: `10/s` for 10/sec, 10r/s and
/// "10 per second"; empty if there is none.
std::string rate_meant(std::string_view text);
/// Returns `90s` for 1m30s, `1500ms` for 1.5s, `30s` for "30 seconds" and for 30.
std::string duration_meant(std::string_view text);
/// Returns `10MiB` for 10MB and 10m.
std::string size_meant(std::string_view text);
/// Returns `20` for 20/s and "20 requests".
std::string integer_meant(std::string_view text);
/// True if the text names a month or a year, which no rate can have.
bool names_months(std::string_view text);

}  // namespace weir::config
