// The terms of a reload that is tried in shadow, as a request or a command has them. Pure;
// thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace weir::app {

inline constexpr Duration shortest_shadow = std::chrono::seconds(1);
inline constexpr Duration longest_shadow = std::chrono::days(1);

/// The parameters of POST /v1/reload.
inline constexpr std::array<std::string_view, 2> reload_parameters{"shadow", "max_flips"};

struct ShadowTerms {
  Duration period{0};
  std::int64_t max_flips = 5'000;  ///< the share of decisions that may flip, in millionths
};

/// Parses a duration of at least `shortest_shadow` and at most `longest_shadow`.
Result<Duration> parse_shadow_period(std::string_view text);

/// Parses a percentage from 0 to 100 with at most four decimals, in millionths: `0.5%`. The sign
/// may be left out.
Result<std::int64_t> parse_percentage(std::string_view text);

/// Reads the query of POST /v1/reload. Empty: a reload without a shadow. A problem states which
/// parameter is wrong, and what to write.
Result<std::optional<ShadowTerms>> read_reload_query(std::string_view query);

}  // namespace weir::app
