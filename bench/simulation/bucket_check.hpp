// The definition of a rate limit, computed from a list of all admissions of a key: a bucket of
// `capacity` units that is full at first, refilled with `rate` units a second. Independent of the
// rules of the program. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::simulation {

/// Returns the greatest number of units by which the admissions exceed the definition; 0: they do
/// not. `admissions`: microseconds, one unit each, in any order.
inline std::int64_t excess_of(std::vector<std::int64_t> admissions, std::int64_t capacity,
                              std::int64_t rate) {
  constexpr std::int64_t unit =
      1'000'000;  // a unit, in those of `level`: a microsecond adds `rate`
  std::ranges::sort(admissions);
  std::int64_t level = capacity * unit;
  std::int64_t at = admissions.empty() ? 0 : admissions.front();
  std::int64_t least = 0;
  for (const std::int64_t admission : admissions) {
    const std::int64_t passed = std::min<std::int64_t>(admission - at, 60 * unit);
    level = std::min(level + passed * rate, capacity * unit) - unit;
    at = admission;
    least = std::min(least, level);
  }
  return (-least + unit - 1) / unit;
}

}  // namespace weir::simulation
