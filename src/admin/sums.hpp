// Counters of all workers added up, for the metrics and the status page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "admin/instruments.hpp"
#include "base/counters.hpp"
#include "base/traffic_counters.hpp"
#include "redis/node_counters.hpp"
#include "store/node_control.hpp"

namespace weir::admin {

/// The route of requests that no route matches, or whose head cannot be read.
inline constexpr std::string_view unmatched_route = "none";
/// The route of calls of the rate limit service.
inline constexpr std::string_view service_route = "rate_limit_service";

struct RouteSum {
  std::string_view name;
  std::array<std::uint64_t, 500> by_status{};  ///< index: status - 100
  std::array<std::uint64_t, 17> by_grpc_status{};
  std::uint64_t denied = 0;
  HistogramSum duration{};

  void add(const RouteCounters& part);
};

/// The indexes of NamedCounters::routes, each name once: routes with the same name have the same
/// counters. After the routes there is that of service_route, if the service is configured; the
/// last one is that of unmatched_route.
std::vector<std::size_t> distinct_routes(const Instruments& in);
std::string_view route_name(const Instruments& in, std::size_t index);

/// One for each of them. Prometheus refuses a scrape that has two samples of one series.
std::vector<RouteSum> sum_routes(const Instruments& in);

/// The counts of all workers about a node of Redis.
struct NodeSum {
  bool is_up = true;                  ///< for every worker
  store::NodeControl::State state{};  ///< the worst of the workers
  std::uint64_t in_flight = 0;
  std::uint64_t in_flight_limit = 0;  ///< the largest number allowed
  std::uint64_t errors = 0;
  HistogramSum latency{};

  void add(const redis::NodeCounters& part);
};
using NodeSums = std::map<std::string, NodeSum>;

/// The nodes that are in use, each once.
NodeSums sum_nodes(const Instruments& in);

/// For each policy whether a limit of a route holds units of it.
std::vector<bool> holding_policies(const Instruments& in);

}  // namespace weir::admin
