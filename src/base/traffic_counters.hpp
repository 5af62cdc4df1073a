// Traffic counters of one worker. The admin room adds the labels. Written by one worker, read by
// any thread (see counters.hpp).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "base/named_hits.hpp"

namespace weir {

/// Begins with what the status page reads of each route once a second, in one cache line.
struct alignas(64) RouteCounters {
  std::array<Counter, 5> by_class;  ///< the sums of by_status: 1xx to 5xx
  Counter denied;  ///< requests that a limit or an override denied, whatever their status
  DurationHistogram duration;
  std::array<Counter, 500> by_status;      ///< index: status - 100
  std::array<Counter, 17> by_grpc_status;  ///< of gRPC calls; index: their status

  void count(int status, Duration took) {
    if (status >= 100 && status < 600) {
      const auto index = static_cast<std::size_t>(status - 100);
      by_status[index].add();
      by_class[index / 100].add();
    }
    duration.observe(took);
  }
};

struct UpstreamCounters {
  Counter answered, connect_failed, timed_out, broken;  ///< the label `outcome`, in words
  Counter unhealthy;                                    ///< nothing was sent: all checks fail
};

/// Tokens of one provider, one for each request that needs it.
struct TokenCounters {
  Counter valid, invalid;
  Counter unverifiable;  ///< no keys had been read yet
};

/// TLS handshakes with clients, from their first bytes on.
struct HandshakeCounters {
  Counter completed, failed, timed_out;
  Counter displaced;  ///< closed because there were more than downstream.max_handshakes
  Gauge in_progress;
  Gauge waiting;  ///< waiting for a turn, including those that have not begun
};

/// Connections that were reset because of a bound of downstream.per_address.
struct RefusedByAddress {
  Counter connections, rate;
};

/// Client connections that speak HTTP/2.
struct Http2Counters {
  Gauge connections;
  Counter glitches;  ///< faults of clients (http2/glitches.hpp)
  Counter given_up;  ///< connections closed because of their glitches
};

/// gRPC calls of one method.
struct MethodCounters {
  Counter requests;
  DurationHistogram duration;  ///< from the message to the answer
};

/// Calls of the rate limit service, counted as envoyproxy/ratelimit does (src/metrics and
/// src/service there).
struct RateLimitCallCounters {
  MethodCounters should_rate_limit, check_health;
  Counter undecided;  ///< ShouldRateLimit, also as JSON: the store did not decide
  Counter invalid;    ///< likewise: no domain, or no descriptors
};

/// Counters by name, in the order of the configuration. After a reload, entries with a name of the
/// previous configuration keep their counters; entries with the same name are the same object.
struct NamedCounters {
  /// After the routes there are the counters of the rate limit service, if it is configured. The
  /// last ones count requests that no route matched or whose head could not be read.
  std::vector<std::shared_ptr<RouteCounters>> routes;
  std::vector<std::shared_ptr<UpstreamCounters>> upstreams;
  std::vector<std::shared_ptr<TokenCounters>> token_providers;
  /// For each upstream and server: 1, or 0 while the worker does not use it.
  std::vector<std::vector<std::shared_ptr<Gauge>>> servers_in_use;
};

/// Counters that do not depend on the configuration.
struct TrafficCounters {
  std::array<DurationHistogram, 3> decision_duration;  ///< by limiter::Decider
  Counter accepted;                                    ///< connections accepted
  Counter refused;  ///< connections answered 503 because of max_connections
  RefusedByAddress refused_by_address;
  Gauge connections;  ///< open downstream connections
  HandshakeCounters handshakes;
  Http2Counters http2;
  RateLimitCallCounters rate_limit_calls;
  NamedHits named_hits;  ///< of limits whose names in reference_metrics have values of requests
  Gauge kept_holds;      ///< of requests that other proxies serve and have not reported yet
};

}  // namespace weir
