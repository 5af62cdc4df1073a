// The masters of Redis as the workers have found them: which changes to log.
//
// Pure: reports and the time go in, a line comes out. Not thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log_limit.hpp"
#include "base/time.hpp"
#include "redis/master_layout.hpp"

namespace weir::admin {

/// A change is logged once, whichever worker has found it, and at once. But there are at most three
/// lines in ten seconds, and one while the masters are the same and only their slots move: further
/// changes are in one line after that time. The masters that are found first are not a change.
class StoreMasters {
 public:
  /// A worker has found other masters than before.
  void report(std::shared_ptr<const redis::MasterLayout> masters) { present_ = std::move(masters); }
  /// Returns the text of the line that is due.
  std::optional<std::string> take_change(Instant now);
  /// The next ones are those of another Redis.
  void clear() { present_ = logged_ = nullptr; }

 private:
  std::shared_ptr<const redis::MasterLayout> present_;
  std::shared_ptr<const redis::MasterLayout> logged_;
  /// The subject: which servers are masters.
  LogLimit limit_{{.interval = std::chrono::seconds(10),
                   .most = 3,
                   .repeated_after = std::chrono::seconds(10)}};
};

}  // namespace weir::admin
