// The number of instances that a quota is divided by, smoothed (`replicas: auto`).
//
// A higher number counts at once. A lower one counts after it has been reported for a while without
// a pause, so an instance that restarts does not raise the share of the others. Without reports,
// which come from Redis, the number stays. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace weir::app {

class ReplicaCount {
 public:
  static constexpr Duration falls_after = std::chrono::minutes(1);
  /// After a longer pause the instances that are listed may not be all that run.
  static constexpr Duration longest_pause = std::chrono::seconds(15);

  std::int64_t value() const { return value_; }

  /// `instances`: the present number, with this one.
  void report(std::int64_t instances, Instant now) {
    const bool has_paused = now - reported_at_ > longest_pause;
    reported_at_ = now;
    if (instances >= value_) {
      value_ = instances;
      lower_.reset();
      return;
    }
    if (!lower_ || has_paused) lower_ = Lower{.most = instances, .since = now};
    lower_->most = std::max(lower_->most, instances);
    if (now - lower_->since < falls_after) return;
    value_ = lower_->most;
    lower_.reset();
  }

 private:
  /// Reports below the value, one after the other.
  struct Lower {
    std::int64_t most;
    Instant since;
  };

  std::int64_t value_ = 1;
  Instant reported_at_{};
  std::optional<Lower> lower_;
};

}  // namespace weir::app
