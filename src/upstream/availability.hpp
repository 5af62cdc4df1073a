// Whether a server is used: the results of its health checks and of its requests. Pure: the caller
// passes the tick. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "loop/ticks.hpp"

namespace weir::upstream {

/// Decides when a failing server is ejected, and when it is tried again.
///
/// After `ejecting_failures` in a row the server is ejected: for a second at first, twice as long
/// after each failed trial, at most 30 s. After that it is on trial and gets one request a second,
/// until one succeeds, which resets everything, or fails.
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

/// The health of a server according to active checks.
///
/// Before the first check the server is up. The first check decides alone, so a server that is down
/// when Weir starts gets requests for no longer than one check takes.
class Health {
 public:
  /// `rise` successful checks in a row mark a server up that was down; `fall` failures in a row
  /// mark it down.
  Health(int rise, int fall) : rise_(rise), fall_(fall) {}

  bool is_up() const { return up_; }
  /// Changes the thresholds; keeps the results so far.
  void set(int rise, int fall) {
    rise_ = rise;
    fall_ = fall;
  }

  /// True if this changes is_up().
  bool observe(bool good) {
    if (good == up_) {
      against_ = 0;
      known_ = true;
      return false;
    }
    ++against_;
    if (known_ && against_ < (up_ ? fall_ : rise_)) return false;
    up_ = good;
    known_ = true;
    against_ = 0;
    return true;
  }

 private:
  int rise_;
  int fall_;
  bool up_ = true;
  bool known_ = false;
  int against_ = 0;  ///< checks in a row that contradict the current state
};

class Availability {
 public:
  /// False if the health checks fail: the server must not be chosen.
  bool is_up() const { return health_.is_up(); }
  /// True if the server is ejected and not on trial: it is chosen only if there is no other.
  bool is_out(std::uint64_t tick) const { return ejection_.is_out(tick); }
  bool is_in_use() const { return is_up() && !ejection_.is_ejected(); }

  /// Uses these thresholds from now on; keeps the results so far.
  void set_thresholds(int rise, int fall) { health_.set(rise, fall); }
  /// There are no health checks any more: the server is up.
  void forget_checks() { health_ = Health(1, 1); }

  /// A request goes to the server.
  void chosen(std::uint64_t tick) { ejection_.chosen(tick); }
  /// The server has sent the head of a response.
  void answered() { ejection_.succeeded(); }
  /// The server could not be reached, or did not respond on a new connection. True if it is out
  /// from now on.
  bool failed(std::uint64_t tick) { return ejection_.failed(tick); }
  /// The result of a health check. True if the server is down from now on.
  bool checked(bool good) {
    if (!health_.observe(good)) return false;
    if (good) ejection_.succeeded();
    return !good;
  }

  /// True if is_in_use() has changed since the last call, or since the start, when it was true.
  bool has_changed() { return std::exchange(was_in_use_, is_in_use()) != was_in_use_; }
  /// The value at the last call of has_changed().
  bool was_in_use() const { return was_in_use_; }

 private:
  Ejection ejection_;
  Health health_{1, 1};
  bool was_in_use_ = true;
};

}  // namespace weir::upstream
