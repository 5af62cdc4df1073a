// The coarse time of a worker, in which timeouts are counted. Fine enough for timeouts of seconds,
// cheap for 50,000 connections.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace weir::loop {

inline constexpr Duration tick_interval = std::chrono::milliseconds(100);

/// Rounds up; at least one.
constexpr std::uint64_t ticks_in(Duration duration) {
  const auto ticks = (duration + tick_interval - Duration{1}) / tick_interval;
  return ticks < 1 ? 1 : static_cast<std::uint64_t>(ticks);
}

/// Returns when the tick after that of `due` comes. Ticks that a delayed loop has missed are not
/// made up for: a timeout that began after the delay would end too early.
template <class TimePoint>
constexpr TimePoint next_tick(TimePoint due, TimePoint now) {
  const TimePoint next = due + tick_interval;
  return next < now ? now + tick_interval : next;
}

}  // namespace weir::loop
