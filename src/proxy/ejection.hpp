// When a server that fails is left alone, and when it is tried again. Pure: the caller brings the
// tick.
//
// After `ejecting_failures` in a row the server is out: for a second at first, twice as long each
// time it fails its trial, at most 30 s. When that time is over it is on trial: one request a
// second, until one succeeds, which forgives everything, or fails. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proxy/ticks.hpp"

namespace weir::proxy {

class Ejection {
 public:
  static constexpr int ejecting_failures = 3;
  static constexpr std::uint64_t shortest_ticks = ticks_in(std::chrono::seconds(1));
  static constexpr std::uint64_t longest_ticks = ticks_in(std::chrono::seconds(30));

  /// Not to be chosen, if there is another one.
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

}  // namespace weir::proxy
