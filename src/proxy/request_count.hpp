// Counts one request in the counters of its route, exactly once, in whichever phase it ends.
#pragma once

#include "base/time.hpp"
#include "base/traffic_counters.hpp"

namespace weir::proxy {

class RequestCount {
 public:
  /// `unrouted`: the counters of a request without a route.
  void begin(RouteCounters& unrouted, Instant now) {
    counters_ = &unrouted;
    started_at_ = now;
    is_done_ = false;
  }
  void use(RouteCounters& route) { counters_ = &route; }
  /// Counts the request. Status 0, no response, is not counted. Later calls do nothing.
  void count(int status, Instant now) {
    if (!is_done_ && status != 0) counters_->count(status, now - started_at_);
    is_done_ = true;
  }

 private:
  RouteCounters* counters_ = nullptr;
  Instant started_at_;
  bool is_done_ = false;
};

}  // namespace weir::proxy
