// How long a server has not replied. Pure; not thread-safe.
#pragma once

#include <chrono>

#include "base/time.hpp"

namespace weir::redis {

class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `limit`: as long as this is no silence.
  explicit Silence(Duration limit) : limit_(limit) {}

  /// A reply of any kind arrived.
  void on_reply(Time now) { heard_at_ = now; }
  /// Whether no reply arrived for the limit, or none at all.
  bool is_over_limit(Time now) const { return now - heard_at_ >= limit_; }

 private:
  Duration limit_;
  Time heard_at_;
};

}  // namespace weir::redis
