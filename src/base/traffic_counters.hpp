// What one worker counts about its traffic. Indexes are those of the configuration; labels are put
// on by the admin room. Written by one worker, read by any thread (see counters.hpp).
#pragma once

#include <array>
#include <cstddef>
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
  std::vector<Gauge> in_use;                            ///< of each server: 1, or 0 while it is out
};

/// TLS handshakes with clients, from their first bytes on.
struct HandshakeCounters {
  Counter completed, failed, timed_out;
  Counter displaced;  ///< closed because there were more than downstream.max_handshakes
  Gauge in_progress;
  Gauge waiting;  ///< for their turn, among them those that are not in progress yet
};

struct TrafficCounters {
  TrafficCounters(std::size_t route_count, std::size_t upstream_count)
      : routes(route_count + 1), upstreams(upstream_count) {}

  std::vector<RouteCounters>
      routes;  ///< the last one: no route matched, or the head was not readable
  std::vector<UpstreamCounters> upstreams;
  std::array<DurationHistogram, 3> decision_duration;  ///< by limiter::Decider
  Counter accepted;                                    ///< connections accepted
  Counter refused;    ///< connections answered 503 because of max_connections
  Gauge connections;  ///< open downstream connections
  HandshakeCounters handshakes;
};

}  // namespace weir
