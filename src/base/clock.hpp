// The clock of this process: monotonic, anchored to wall time once, so that it never steps back.
//
// Only rooms with I/O read it; all other code takes an Instant (tests/lint/layers.py).
// Thread-safe: now() is a clock reading and an addition.
#pragma once

#include "base/time.hpp"

namespace weir {

class MonotonicClock {
 public:
  MonotonicClock()
      : offset_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) -
                Instant{std::chrono::duration_cast<Duration>(
                    std::chrono::steady_clock::now().time_since_epoch())}) {}

  Instant now() const {
    return Instant{std::chrono::duration_cast<Duration>(
               std::chrono::steady_clock::now().time_since_epoch())} +
           offset_;
  }

 private:
  Duration offset_;
};

/// The wall clock less `clock`: not zero after the wall clock was set.
inline Duration wall_clock_offset(const MonotonicClock& clock) {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) - clock.now();
}

}  // namespace weir
