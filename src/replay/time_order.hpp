// Puts the requests of logs into the order in which they were decided.
//
// Servers write a line when a request ends, with the time when it began, so a line of a long
// request comes after those of later ones. Requests wait here until the log is a window ahead of
// them, or until there are too many. One that comes even later is passed on at once. Requests of
// the same instant stay in the order of their lines. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "replay/arrival.hpp"
#include "replay/log_clock.hpp"

namespace weir::replay {

class TimeOrder {
 public:
  struct Bounds {
    Duration window = std::chrono::minutes(1);  ///< of the log's time
    std::size_t requests = 200'000;             ///< that wait at the same time
  };
  TimeOrder() : TimeOrder(Bounds{}) {}
  explicit TimeOrder(const Bounds& bounds) : bounds_(bounds) {}

  /// Returns storage for a request; then call add() with it.
  Arrival& storage();
  /// `log_time`: how far the log is; of several logs the one that is furthest behind (LogClock).
  void add(Arrival& arrival, Instant log_time);
  /// The earliest request, if it need not wait; nullptr: none. `is_end`: no other request is added,
  /// so none needs to wait. Valid until the next call.
  const Arrival* next(bool is_end = false);
  /// True if the time of that request is far ahead of the log.
  bool is_ahead() const { return passed_on_->at > log_time_ + LogClock::largest_step; }

 private:
  struct Place {
    Instant at{};
    std::uint64_t number = 0;
    Arrival* arrival = nullptr;
    /// True if it comes after the other.
    bool operator<(const Place& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  Bounds bounds_;
  Instant log_time_{};
  std::uint64_t numbers_ = 0;
  std::vector<Place> heap_;
  std::vector<std::unique_ptr<Arrival>> all_;
  std::vector<Arrival*> free_;
  Arrival* passed_on_ = nullptr;
};

}  // namespace weir::replay
