// The units of time of the whole program: whole microseconds, never floating point.
//
// A Duration is a length of time. An Instant is a point on the store's clock, in microseconds since
// the Unix epoch, as Redis TIME and the clock of the memory store count. Pure code takes instants
// as arguments.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir {

using Duration = std::chrono::duration<std::int64_t, std::micro>;
using Instant = std::chrono::sys_time<Duration>;

constexpr std::int64_t to_us(Duration duration) {
  return duration.count();
}
constexpr std::int64_t to_us(Instant instant) {
  return instant.time_since_epoch().count();
}
constexpr Instant instant_from_us(std::int64_t us) {
  return Instant{Duration{us}};
}

/// Rounds up to whole seconds: the only rounding for response fields (0 stays 0, 1 us becomes 1 s).
constexpr std::int64_t ceil_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace weir
