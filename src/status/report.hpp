// The content of the status page: a status, with the rates and percentiles since an earlier one.
// Pure.
//
// The rows with the most denials come first, then those with the most requests, then in the order
// of the configuration. A list has at most `most_rows` rows, whatever the configuration has.
// Routes and policies may be thousands: a report reads those that have changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "status/history.hpp"
#include "status/percentiles.hpp"
#include "status/status.hpp"

namespace weir::status {

inline constexpr std::size_t most_rows = 50;

/// A counter.
struct Count {
  std::uint64_t total = 0;             ///< since the start of the instance
  std::optional<double> per_second{};  ///< empty: there is no earlier status
};

struct RouteRow {
  std::string name;
  Count requests{}, denied{}, client_errors{}, server_errors{};  ///< 4xx include denials
  std::optional<Percentiles> duration{};
};

struct PolicyRow {
  Policy policy;
  Count decisions{}, denied{}, shadow_denied{}, delayed{}, errors{};
};

struct DeciderRow {
  std::string name;
  Count decisions{};
  std::optional<Percentiles> duration{};
};

struct UpstreamRow {
  std::string name;
  Count answered{}, failed{}, unhealthy{};
  std::vector<Server> servers{};
};

struct NodeRow {
  Node node;
  Count decisions{}, errors{};
  std::optional<Percentiles> latency{};
};

/// All routes together.
struct Traffic {
  Count requests{}, denied{}, server_errors{};
  std::optional<Percentiles> duration{};
};

/// The rows that a list has beyond `most_rows`.
struct Omitted {
  std::size_t routes = 0, policies = 0, upstreams = 0, nodes = 0;
};

struct Report {
  Status status;                   ///< its lists are moved to the rows below
  std::optional<Duration> over{};  ///< that rates and percentiles cover; empty: there are none
  Traffic traffic{};
  std::vector<RouteRow> routes{};
  std::vector<PolicyRow> policies{};
  std::vector<DeciderRow> deciders{};
  std::vector<UpstreamRow> upstreams{};
  std::vector<NodeRow> nodes{};
  Omitted omitted{};
};

/// The sums over all routes, which are enough to draw a chart.
struct TrafficSum {
  Instant at{};
  std::uint64_t requests = 0, denied = 0, server_errors = 0;
  HistogramSum duration{};

  void add(const Route& route);
  void subtract(const Route& route);  ///< one that is part of the sum
};
/// The traffic between two sums. Without an earlier one, or with one that is not earlier, it has
/// no rates and no percentiles.
Traffic traffic_between(const TrafficSum* earlier, const TrafficSum& later);

/// The parts of a status that are kept from one to the next.
struct Lists {
  History<Route> routes;
  History<Policy> policies;
};

/// Compares `later`, whose routes and policies are in `lists`, with `earlier`, which was at the
/// first instant of `lists`; nullptr: there is none. Rows are matched by name. A row that is
/// missing in `earlier`, or that had counted more, is counted from 0: a reload has added it since.
Report compare(const Status* earlier, Status later, const Lists& lists, Traffic traffic);

}  // namespace weir::status
