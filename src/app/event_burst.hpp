// Decides when a burst of events is over, such as the several changes that an editor or a ConfigMap
// makes at once. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace weir::app {

class EventBurst {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Since the last event.
  static constexpr std::chrono::milliseconds quiet_after{50};
  /// Since the first event, however many follow.
  static constexpr std::chrono::milliseconds longest{1000};

  /// An event at `now`. Returns when the burst is over if no other event comes.
  Time note(Time now) {
    if (!began_at_) began_at_ = now;
    return std::min(now + quiet_after, *began_at_ + longest);
  }
  /// The next event begins another burst.
  void end() { began_at_.reset(); }

 private:
  std::optional<Time> began_at_;
};

}  // namespace weir::app
