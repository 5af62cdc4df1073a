// Requests and denials over the time of a log, in a bounded number of periods: their length grows
// with the log. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace weir::replay {

class Timeline {
 public:
  static constexpr std::size_t most_periods = 240;

  struct Period {
    std::uint64_t requests = 0;
    std::uint64_t denied = 0;
    friend bool operator==(const Period&, const Period&) = default;
  };

  /// Counts a request, in the order of time. An earlier one counts in the last period.
  void count(Instant at, bool is_denied);

  /// Empty without requests. The first one begins at begin().
  const std::vector<Period>& periods() const { return periods_; }
  Duration length() const { return length_; }
  Instant begin() const { return instant_from_us(first_ * to_us(length_)); }

 private:
  void widen();

  Duration length_ = std::chrono::seconds(1);
  std::int64_t first_ = 0;  ///< the number of the first period since 1970
  std::vector<Period> periods_;
  Instant end_{};  ///< of the last period
};

}  // namespace weir::replay
