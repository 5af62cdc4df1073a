// The state of a running instance at one instant, as the status page shows it: the counters of all
// workers, added up, and its configuration. Values; contain no secret and nothing that a client
// sent, except the hashes of keys.
//
// Counters only grow while an instance runs. Two values give the rates (status/report.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.hpp"
#include "base/time.hpp"

namespace weir::status {

struct Route {
  std::string name{};
  std::array<std::uint64_t, 5> responses{};  ///< by class: 1xx to 5xx
  std::uint64_t denied = 0;
  HistogramSum duration{};

  bool operator==(const Route&) const = default;
};

struct Policy {
  std::string name{};
  std::string algorithm{};  ///< as configured
  bool is_shadow = false;
  /// Decisions; each is counted once.
  std::uint64_t allowed = 0, denied = 0, shadow_denied = 0, delayed = 0, errors = 0;
  std::optional<std::int64_t> held{};    ///< units, if the policy holds any
  std::optional<std::int64_t> queued{};  ///< requests that wait for a slot, if it has a queue
  std::optional<std::int64_t> leased{};  ///< units, if it has leases

  bool operator==(const Policy&) const = default;
};

/// A store that decides: `memory`, `redis` or `local`.
struct Decider {
  std::string name{};
  HistogramSum duration{};
};

struct Server {
  std::string name{};  ///< HOST:PORT
  bool is_up = false;  ///< every worker uses it
};

struct Upstream {
  std::string name{};
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;     ///< requests that were sent, or could not be
  std::uint64_t unhealthy = 0;  ///< not sent, because the checks of all servers fail
  std::vector<Server> servers{};
};

enum class Breaker : std::uint8_t { closed, half_open, open };

constexpr std::string_view to_string(Breaker breaker) {
  switch (breaker) {
    case Breaker::half_open:
      return "half open";
    case Breaker::open:
      return "open";
    case Breaker::closed:
      break;
  }
  return "closed";
}

/// A server of Redis.
struct Node {
  std::string name{};  ///< HOST:PORT
  bool is_up = true;   ///< every worker is connected to it
  Breaker breaker{};   ///< the worst of the workers
  std::uint64_t in_flight = 0;
  std::uint64_t in_flight_limit = 0;  ///< the largest number allowed
  std::uint64_t errors = 0;           ///< questions that it did not decide
  HistogramSum latency{};             ///< of those that it decided
};

/// Only if instances share a store.
struct SharedStore {
  std::uint64_t instances = 1;   ///< that use it, with this one
  std::uint64_t differing = 0;   ///< of them, with other settings
  std::int64_t replicas = 1;     ///< that share a quota while each decides locally
  std::uint64_t fallbacks = 0;   ///< requests decided by on_failure
  std::uint64_t remembered = 0;  ///< denied without a question
  std::uint64_t leased = 0;      ///< decided from leases
  std::vector<Node> nodes{};
};

struct Store {
  bool is_up = true;  ///< it decides for every worker
  std::uint64_t memory_keys = 0;
  std::uint64_t memory_evictions = 0;
  std::optional<SharedStore> shared{};
};

/// The keys of a JWT provider with a URL.
struct TokenKeys {
  std::string provider{};
  std::optional<Duration> age{};  ///< empty: not fetched yet
  std::uint64_t fetched = 0, failed = 0;
  std::string problem{};  ///< empty: none
};

/// A client under one policy, on one route.
struct TopKey {
  std::string identity{};  ///< its name
  std::string hash{};      ///< of the identity, as in the access log
  std::string policy{};
  std::string route{};
  std::uint64_t requests = 0, denied = 0;              ///< in the window, at most
  std::uint64_t requests_error = 0, denied_error = 0;  ///< how much less they may be
};

struct TopKeys {
  Duration window{0};
  std::vector<TopKey> keys{};  ///< the most denied first
};

/// The latest configuration that decided in shadow before a reload. GET /v1/reload has the same
/// members.
struct ShadowReload {
  std::string state{"none"};  ///< `none`: no configuration was tried since the start
  std::string hash{};         ///< of the configuration
  std::string until{};        ///< RFC 3339
  std::string max_flips{};    ///< a percentage
  std::uint64_t decisions = 0, flips = 0;
  std::uint64_t skipped = 0;  ///< requests and calls that were not compared
  std::string reason{};       ///< why it was dropped

  bool is_none() const { return state == "none"; }
};

struct Configuration {
  std::string hash{};            ///< 64 hexadecimal digits
  std::int64_t loaded_at_s = 0;  ///< Unix time
  std::uint64_t reloads = 0, failed_reloads = 0;
  std::vector<std::string> restart_needed{};  ///< keys that wait for a restart
  ShadowReload shadow_reload{};
};

struct Process {
  std::string version{};
  std::string state{};  ///< as /readyz reports it
  std::int64_t started_at_s = 0;
  std::size_t workers = 0;
  std::uint64_t resident_bytes = 0;
  std::int64_t connections = 0;  ///< of clients
};

struct Status {
  Instant at{};
  Process process{};
  Configuration configuration{};
  std::vector<std::string> problems{};  ///< as `degraded` of /readyz
  std::vector<Route> routes{};
  std::vector<Policy> policies{};
  /// The places of `routes` and `policies` in the lists of the status before, if they are only
  /// those that have changed since. Empty: they are all there are.
  std::optional<std::vector<std::size_t>> route_places{}, policy_places{};
  std::vector<Decider> deciders{};
  std::vector<Upstream> upstreams{};
  Store store{};
  std::vector<TokenKeys> keys{};
  std::optional<TopKeys> top{};  ///< empty: not counted
};

}  // namespace weir::status
