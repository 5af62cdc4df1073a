// Decides when a failing server is ejected, and when it is tried again. Pure: the caller passes the
// tick.
//
// After `ejecting_failures` in a row the server is ejected: for a second at first, twice as long
// after each failed trial, at most 30 s. After that it is on trial and gets one request a second,
// until one succeeds, which resets everything, or fails. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "loop/ticks.hpp"

namespace weir::upstream {

class Ejection {
 public:
  static constexpr int ejecting_failures = 3;
  static constexpr std::uint64_t shortest_ticks = loop::ticks_in(std::chrono::seconds(1));
  static constexpr std::uint64_t longest_ticks = loop::ticks_in(std::chrono::seconds(30));

  /// True if the server must not be chosen while there is another one.
  bool is_out(std::uint64_t tick) const { return is_ejected() && tick < out_until_; }
  /// Out or on trial.
  bool is_ejected() const { return failures_ >= ejecting_failures; }

  void succeeded() { *this = {}; }

  /// True if the server is out from now on, until `tick` at least.
  bool failed(std::uint64_t tick) {
    if (is_out(tick) && !on_trial_) return false;  // chosen before it was out
    if (failures_ < ejecting_failures) ++failures_;
    if (!is_ejected()) return false;
    out_until_ = tick + next_ticks_;
    next_ticks_ = std::min(next_ticks_ * 2, longest_ticks);
    on_trial_ = false;
    return true;
  }

  /// A request goes to the server.
  void chosen(std::uint64_t tick) {
    if (!is_ejected() || is_out(tick)) return;
    on_trial_ = true;
    out_until_ = tick + shortest_ticks;
  }

 private:
  int failures_ = 0;  ///< in a row
  bool on_trial_ = false;
  std::uint64_t out_until_ = 0;
  std::uint64_t next_ticks_ = shortest_ticks;
};

}  // namespace weir::upstream
