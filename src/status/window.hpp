// Keeps the earlier statuses that the next one is compared with. Pure; not thread-safe.
//
// The rates of a report cover 5 to 10 seconds while a status is added each second: less would make
// percentiles of a quiet route jump, more would hide a change. `recent` covers the time since the
// status before, for charts, and at least half a second. Two statuses are kept, however often one
// is added; of routes and policies only the values of those that have changed since.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "status/report.hpp"

namespace weir::status {

struct WindowReport {
  Report report;
  Traffic recent{};
  std::optional<Duration> recent_over{};  ///< empty: there is no status before
};

class Window {
 public:
  /// Compares `now` with an earlier status. Without one from the last minute, the report has no
  /// rates. The first status has all routes and policies. After an exception the window is not
  /// used again.
  WindowReport add(Status now);
  /// Whether a status of this instant would have rates: there is one at least a second older.
  bool is_measured_at(Instant now) const;

 private:
  /// A status without its routes and policies.
  struct Earlier {
    Status status;
    TrafficSum traffic;
  };
  void take_lists(Status& now);

  Lists lists_;                  ///< of now; their instants are those of base_ and next_
  TrafficSum traffic_;           ///< of now
  std::optional<Earlier> base_;  ///< what the next one is compared with
  std::optional<Earlier> next_;  ///< a later one, which replaces it
  std::optional<TrafficSum> previous_;
};

}  // namespace weir::status
