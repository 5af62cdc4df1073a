// How far a log is, by the times of its lines.
//
// A line may have a wrong time far in the future: the clock of its server was wrong, or the line is
// damaged. It must not make all later lines late. So the clock follows a line that is more than an
// hour ahead only if several lines in a row are. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/time.hpp"

namespace weir::replay {

class LogClock {
 public:
  static constexpr Duration largest_step = std::chrono::hours(1);
  /// Lines in a row after which a longer step counts.
  static constexpr std::size_t lines_of_a_step = 8;

  void note(Instant at) {
    if (has_begun_ && at <= now_ + largest_step) {
      now_ = std::max(now_, at);
      was_wrong_ = was_wrong_ || ahead_ > 0;
      ahead_ = 0;
      return;
    }
    earliest_ahead_ = ahead_ == 0 ? at : std::min(earliest_ahead_, at);
    latest_ahead_ = ahead_ == 0 ? at : std::max(latest_ahead_, at);
    if (++ahead_ < lines_of_a_step) return;
    was_wrong_ = was_wrong_ || (!has_begun_ && latest_ahead_ > earliest_ahead_ + largest_step);
    now_ = earliest_ahead_;
    has_begun_ = true;
    ahead_ = 0;
  }

  /// 1970 until the first lines agree.
  Instant time() const { return has_begun_ ? now_ : Instant{}; }
  /// A line was ahead, and the next ones were not.
  bool was_wrong() const { return was_wrong_; }

 private:
  Instant now_{};
  bool has_begun_ = false;
  bool was_wrong_ = false;
  std::size_t ahead_ = 0;  ///< lines in a row
  Instant earliest_ahead_{}, latest_ahead_{};
};

}  // namespace weir::replay
