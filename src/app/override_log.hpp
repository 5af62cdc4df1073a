// Limits the log lines about overrides that cannot be read, over all workers: one a minute, and one
// an hour about the same override. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace weir::app {

class OverrideLog {
 public:
  /// From one line to the next.
  static constexpr Duration interval = std::chrono::minutes(1);
  /// From one line about an override to the next about the same one.
  static constexpr Duration repeated_after = std::chrono::hours(1);

  /// Returns the line for an override that was found at `now` in a decision about `policy`; empty:
  /// it is not logged now.
  std::optional<std::string> malformed(std::string_view policy, const Hash128& identity,
                                       Instant now);

 private:
  struct Logged {
    Hash128 identity;
    std::string policy;
    Instant at;
  };

  std::mutex mutex_;
  std::vector<Logged> logged_;  ///< the latest last; those of one `repeated_after` at most
};

}  // namespace weir::app
