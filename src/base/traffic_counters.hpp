// What one worker counts about its traffic. The admin room adds the labels. Written by one worker,
// read by any thread (see counters.hpp).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/counters.hpp"

namespace weir {

struct RouteCounters {
  std::array<Counter, 500> by_status;  ///< index: status - 100
  DurationHistogram duration;

  void count(int status, Duration took) {
    if (status >= 100 && status < 600) by_status[static_cast<std::size_t>(status - 100)].add();
    duration.observe(took);
  }
};

struct UpstreamCounters {
  Counter answered, connect_failed, timed_out, broken;  ///< the label `outcome`, in words
  Counter unhealthy;                                    ///< nothing was sent: all checks fail
};

/// TLS handshakes with clients, from their first bytes on.
struct HandshakeCounters {
  Counter completed, failed, timed_out;
  Counter displaced;  ///< closed because there were more than downstream.max_handshakes
  Gauge in_progress;
  Gauge waiting;  ///< for their turn, among them those that are not in progress yet
};

/// Counters of what a configuration names, in its order. The next configuration goes on with those
/// of the same name; entries of one name are the same object.
struct NamedCounters {
  /// The last one: no route matched, or the head was not readable.
  std::vector<std::shared_ptr<RouteCounters>> routes;
  std::vector<std::shared_ptr<UpstreamCounters>> upstreams;
  /// Of each upstream's servers: 1, or 0 while the worker does not use it.
  std::vector<std::vector<std::shared_ptr<Gauge>>> servers_in_use;
};

/// What does not depend on the configuration.
struct TrafficCounters {
  std::array<DurationHistogram, 3> decision_duration;  ///< by limiter::Decider
  Counter accepted;                                    ///< connections accepted
  Counter refused;    ///< connections answered 503 because of max_connections
  Gauge connections;  ///< open downstream connections
  HandshakeCounters handshakes;
};

}  // namespace weir
