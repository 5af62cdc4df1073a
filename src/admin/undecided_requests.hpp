// Requests that were answered 503, because Redis did not decide and a policy has on_failure: deny.
// The log has their number at most once a minute, also for stalls that are too short for the
// breaker.
//
// Pure: counts and the time go in, what to log comes out. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "store/error.hpp"

namespace weir::admin {

class UndecidedRequests {
 public:
  using Counts = std::array<std::uint64_t, store::error_count>;  ///< by store::Error

  struct Report {
    Counts counts{};
    Duration within{0};  ///< since the first of them
  };

  void add(const Counts& counts, Instant now);
  /// Returns the report to log now: some seconds after the first request, so that one line has a
  /// whole stall, and a minute after the previous report.
  std::optional<Report> take_due(Instant now);
  /// Returns it without waiting.
  std::optional<Report> take(Instant now);

 private:
  Counts counts_{};
  std::optional<Instant> first_at_;   ///< of those that were not taken yet
  std::optional<Instant> logged_at_;  ///< when they were last taken
};

}  // namespace weir::admin
