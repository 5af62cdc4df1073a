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

}  // namespace weir::loop
