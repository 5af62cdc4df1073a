// Whether a server is used: the results of its health checks and of its requests. Pure: the caller
// passes the tick. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "upstream/ejection.hpp"
#include "upstream/health.hpp"

namespace weir::upstream {

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
