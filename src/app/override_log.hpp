// Limits the log lines about overrides that cannot be read to one a minute, over all workers.
// Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace weir::app {

class OverrideLog {
 public:
  /// Returns the line for an override that was found at `now`; empty: there was one a minute ago or
  /// later.
  std::optional<std::string> malformed(std::string_view policy, const Hash128& identity,
                                       Instant now);

 private:
  std::mutex mutex_;
  std::optional<Instant> logged_at_;
};

}  // namespace weir::app
