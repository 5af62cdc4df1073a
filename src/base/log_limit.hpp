// Limits the lines of a log about events that may repeat quickly.
//
// Pure: the time is an argument. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace weir {

class LogLimit {
 public:
  struct Options {
    Duration interval;  ///< in which at most `most` lines are written
    std::size_t most = 1;
    Duration repeated_after;  ///< between two lines about one subject; at least `interval`
  };

  explicit LogLimit(const Options& options) : options_(options) {}

  /// Returns true if a line about `subject` is to be written at `now`, and counts it. The subject
  /// is what lines that are not to be repeated have in common.
  bool may_log(std::uint64_t subject, Instant now);
  bool may_log(std::string_view subject, Instant now);

 private:
  struct Line {
    std::uint64_t subject;
    Instant at;
  };

  const Options options_;
  std::mutex mutex_;
  std::vector<Line> lines_;  ///< of the last `repeated_after`
};

}  // namespace weir
