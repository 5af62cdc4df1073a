#include "status/json.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::status {
namespace {

using Json = nlohmann::ordered_json;

constexpr double us_per_second = 1e6;

Json seconds(Duration duration) {
  return static_cast<double>(to_us(duration)) / us_per_second;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json or_null(const std::optional<Duration>& duration) {
  return duration ? seconds(*duration) : Json();
}

/// Rates have three decimals.
Json json_of(const Count& count) {
  Json rate;
  if (count.per_second) rate = std::round(*count.per_second * 1000) / 1000;
  return {{"total", count.total}, {"per_second", rate}};
}

Json json_of(const std::optional<Percentiles>& durations) {
  if (!durations) return {};
  return {{"p50", seconds(durations->p50)},
          {"p90", seconds(durations->p90)},
          {"p99", seconds(durations->p99)}};
}

Json json_of(const Traffic& traffic, const std::optional<Duration>& over) {
  return {{"over", or_null(over)},
          {"requests", json_of(traffic.requests)},
          {"denied", json_of(traffic.denied)},
          {"server_errors", json_of(traffic.server_errors)},
          {"duration", json_of(traffic.duration)}};
}

Json json_of(const RouteRow& row) {
  return {{"name", row.name},
          {"requests", json_of(row.requests)},
          {"denied", json_of(row.denied)},
          {"client_errors", json_of(row.client_errors)},
          {"server_errors", json_of(row.server_errors)},
          {"duration", json_of(row.duration)}};
}

Json json_of(const PolicyRow& row) {
  return {{"name", row.policy.name},
          {"algorithm", row.policy.algorithm},
          {"shadow", row.policy.is_shadow},
          {"decisions", json_of(row.decisions)},
          {"denied", json_of(row.denied)},
          {"shadow_denied", json_of(row.shadow_denied)},
          {"delayed", json_of(row.delayed)},
          {"errors", json_of(row.errors)},
          {"held", or_null(row.policy.held)},
          {"queued", or_null(row.policy.queued)},
          {"leased", or_null(row.policy.leased)}};
}

Json json_of(const DeciderRow& row) {
  return {{"name", row.name},
          {"decisions", json_of(row.decisions)},
          {"duration", json_of(row.duration)}};
}

Json json_of(const Server& server) {
  return {{"name", server.name}, {"up", server.is_up}};
}

Json json_of(const TokenKeys& keys) {
  return {{"provider", keys.provider},
          {"age", or_null(keys.age)},
          {"fetched", keys.fetched},
          {"failed", keys.failed},
          {"problem", keys.problem}};
}

Json json_of(const TopKey& key) {
  return {{"policy", key.policy},
          {"hash", key.hash},
          {"requests", key.requests},
          {"denied", key.denied}};
}

Json json_of(const UpstreamRow& row);
Json json_of(const NodeRow& row);

template <class Row>
Json list_of(const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows)
    list.push_back(json_of(row));
  return list;
}

Json json_of(const UpstreamRow& row) {
  return {{"name", row.name},
          {"answered", json_of(row.answered)},
          {"failed", json_of(row.failed)},
          {"unhealthy", json_of(row.unhealthy)},
          {"servers", list_of(row.servers)}};
}

Json json_of(const NodeRow& row) {
  return {{"name", row.node.name},
          {"up", row.node.is_up},
          {"breaker", to_string(row.node.breaker)},
          {"in_flight", row.node.in_flight},
          {"decisions", json_of(row.decisions)},
          {"errors", json_of(row.errors)},
          {"latency", json_of(row.latency)}};
}

Json json_of(const Report& report, const Store& store) {
  Json made{{"type", store.shared ? "redis" : "memory"},
            {"up", store.is_up},
            {"memory_keys", store.memory_keys},
            {"memory_evictions", store.memory_evictions}};
  if (store.shared) {
    made.update(Json{{"instances", store.shared->instances},
                     {"differing", store.shared->differing},
                     {"replicas", store.shared->replicas},
                     {"fallbacks", store.shared->fallbacks},
                     {"remembered", store.shared->remembered},
                     {"leased", store.shared->leased},
                     {"nodes", list_of(report.nodes)},
                     {"nodes_omitted", report.omitted.nodes}});
  }
  return made;
}

Json json_of(const Configuration& configuration) {
  return {{"hash", configuration.hash},
          {"loaded_at", configuration.loaded_at_s},
          {"reloads", configuration.reloads},
          {"failed_reloads", configuration.failed_reloads},
          {"restart_needed", configuration.restart_needed}};
}

}  // namespace

std::string to_json(const WindowReport& window) {
  const Report& report = window.report;
  const Process& process = report.status.process;
  Json made{{"at", seconds(report.status.at.time_since_epoch())},
            {"version", process.version},
            {"state", process.state},
            {"degraded", report.status.problems},
            {"started_at", process.started_at_s},
            {"workers", process.workers},
            {"resident_bytes", process.resident_bytes},
            {"connections", process.connections},
            {"configuration", json_of(report.status.configuration)},
            {"traffic", json_of(report.traffic, report.over)},
            {"recent", json_of(window.recent, window.recent_over)},
            {"policies", list_of(report.policies)},
            {"policies_omitted", report.omitted.policies},
            {"routes", list_of(report.routes)},
            {"routes_omitted", report.omitted.routes},
            {"decisions", list_of(report.deciders)},
            {"upstreams", list_of(report.upstreams)},
            {"upstreams_omitted", report.omitted.upstreams},
            {"store", json_of(report, report.status.store)},
            {"token_keys", list_of(report.status.keys)}};
  if (report.status.top) made["top"] = list_of(*report.status.top);
  return made.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weir::status
