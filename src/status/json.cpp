#include "status/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/appender.hpp"
#include "json/write.hpp"

namespace weir::status {
namespace {

constexpr double us_per_second = 1e6;

std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string seconds(Duration duration) {
  return decimal(static_cast<double>(to_us(duration)) / us_per_second);
}

std::string or_null(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string or_null(const std::optional<Duration>& duration) {
  return duration ? seconds(*duration) : "null";
}

std::int64_t whole(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// Rates have three decimals. Most of a report are counts, so this makes one string.
std::string json_of(const Count& count) {
  std::string text;
  text.reserve(64);
  text += R"({"total":)";
  append_number(text, count.total);
  text += R"(,"per_second":)";
  if (count.per_second) {
    text += decimal(std::round(*count.per_second * 1000) / 1000);
  } else {
    text += "null";
  }
  return text += '}';
}

std::string json_of(const std::optional<Percentiles>& durations) {
  if (!durations) return "null";
  return json::Object()
      .json("p50", seconds(durations->p50))
      .json("p90", seconds(durations->p90))
      .json("p99", seconds(durations->p99))
      .str();
}

std::string json_of(const Traffic& traffic, const std::optional<Duration>& over) {
  return json::Object()
      .json("over", or_null(over))
      .json("requests", json_of(traffic.requests))
      .json("denied", json_of(traffic.denied))
      .json("server_errors", json_of(traffic.server_errors))
      .json("duration", json_of(traffic.duration))
      .str();
}

std::string json_of(const RouteRow& row) {
  return json::Object()
      .text("name", row.name)
      .json("requests", json_of(row.requests))
      .json("denied", json_of(row.denied))
      .json("client_errors", json_of(row.client_errors))
      .json("server_errors", json_of(row.server_errors))
      .json("duration", json_of(row.duration))
      .str();
}

std::string json_of(const PolicyRow& row) {
  return json::Object()
      .text("name", row.policy.name)
      .text("algorithm", row.policy.algorithm)
      .flag("shadow", row.policy.is_shadow)
      .json("decisions", json_of(row.decisions))
      .json("denied", json_of(row.denied))
      .json("shadow_denied", json_of(row.shadow_denied))
      .json("delayed", json_of(row.delayed))
      .json("errors", json_of(row.errors))
      .json("held", or_null(row.policy.held))
      .json("queued", or_null(row.policy.queued))
      .json("leased", or_null(row.policy.leased))
      .str();
}

std::string json_of(const DeciderRow& row) {
  return json::Object()
      .text("name", row.name)
      .json("decisions", json_of(row.decisions))
      .json("duration", json_of(row.duration))
      .str();
}

std::string json_of(const Server& server) {
  return json::Object().text("name", server.name).flag("up", server.is_up).str();
}

std::string json_of(const TokenKeys& keys) {
  return json::Object()
      .text("provider", keys.provider)
      .json("age", or_null(keys.age))
      .number("fetched", whole(keys.fetched))
      .number("failed", whole(keys.failed))
      .text("problem", keys.problem)
      .str();
}

std::string json_of(const TopKey& key) {
  return json::Object()
      .text("identity", key.identity)
      .text("hash", key.hash)
      .text("policy", key.policy)
      .text("route", key.route)
      .number("requests", whole(key.requests))
      .number("denied", whole(key.denied))
      .json("error", json::Object()
                         .number("requests", whole(key.requests_error))
                         .number("denied", whole(key.denied_error))
                         .str())
      .str();
}

std::string json_of(const UpstreamRow& row);
std::string json_of(const NodeRow& row);

template <class Row>
std::string list_of(const std::vector<Row>& rows) {
  constexpr std::size_t usual_row = 512;
  std::string list;
  list.reserve(2 + usual_row * rows.size());
  list += '[';
  for (const Row& row : rows) {
    if (list.size() > 1) list += ',';
    list += json_of(row);
  }
  return list += ']';
}

std::string json_of(const UpstreamRow& row) {
  return json::Object()
      .text("name", row.name)
      .json("answered", json_of(row.answered))
      .json("failed", json_of(row.failed))
      .json("unhealthy", json_of(row.unhealthy))
      .json("servers", list_of(row.servers))
      .str();
}

std::string json_of(const NodeRow& row) {
  return json::Object()
      .text("name", row.node.name)
      .flag("up", row.node.is_up)
      .text("breaker", to_string(row.node.breaker))
      .number("in_flight", whole(row.node.in_flight))
      .number("in_flight_limit", whole(row.node.in_flight_limit))
      .json("decisions", json_of(row.decisions))
      .json("errors", json_of(row.errors))
      .json("latency", json_of(row.latency))
      .str();
}

std::string json_of(const TopKeys& top) {
  return json::Object().json("window", seconds(top.window)).json("keys", list_of(top.keys)).str();
}

std::string json_of(const Report& report, const Store& store) {
  json::Object made;
  made.text("type", store.shared ? "redis" : "memory")
      .flag("up", store.is_up)
      .number("memory_keys", whole(store.memory_keys))
      .number("memory_evictions", whole(store.memory_evictions));
  if (store.shared) {
    made.number("instances", whole(store.shared->instances))
        .number("differing", whole(store.shared->differing))
        .number("replicas", store.shared->replicas)
        .number("fallbacks", whole(store.shared->fallbacks))
        .number("remembered", whole(store.shared->remembered))
        .number("leased", whole(store.shared->leased))
        .json("nodes", list_of(report.nodes))
        .number("nodes_omitted", whole(report.omitted.nodes));
  }
  return made.str();
}

std::string json_of(const ShadowReload& shadow) {
  json::Object made;
  add_members(made, shadow);
  return made.str();
}

std::string json_of(const Configuration& configuration) {
  return json::Object()
      .text("hash", configuration.hash)
      .number("loaded_at", configuration.loaded_at_s)
      .number("reloads", whole(configuration.reloads))
      .number("failed_reloads", whole(configuration.failed_reloads))
      .texts("restart_needed", configuration.restart_needed)
      .json("shadow_reload", json_of(configuration.shadow_reload))
      .str();
}

}  // namespace

void add_members(json::Object& to, const ShadowReload& shadow) {
  to.text("state", shadow.state);
  if (shadow.is_none()) return;
  to.text("hash", shadow.hash)
      .text("until", shadow.until)
      .text("max_flips", shadow.max_flips)
      .number("decisions", whole(shadow.decisions))
      .number("flips", whole(shadow.flips))
      .number("skipped", whole(shadow.skipped));
  if (!shadow.reason.empty()) to.text("reason", shadow.reason);
}

std::string to_json(const WindowReport& window) {
  const Report& report = window.report;
  const Process& process = report.status.process;
  json::Object made;
  made.json("at", seconds(report.status.at.time_since_epoch()))
      .text("version", process.version)
      .text("state", process.state)
      .texts("degraded", report.status.problems)
      .number("started_at", process.started_at_s)
      .number("workers", whole(process.workers))
      .number("resident_bytes", whole(process.resident_bytes))
      .number("connections", process.connections)
      .json("configuration", json_of(report.status.configuration))
      .json("traffic", json_of(report.traffic, report.over))
      .json("recent", json_of(window.recent, window.recent_over))
      .json("policies", list_of(report.policies))
      .number("policies_omitted", whole(report.omitted.policies))
      .json("routes", list_of(report.routes))
      .number("routes_omitted", whole(report.omitted.routes))
      .json("decisions", list_of(report.deciders))
      .json("upstreams", list_of(report.upstreams))
      .number("upstreams_omitted", whole(report.omitted.upstreams))
      .json("store", json_of(report, report.status.store))
      .json("token_keys", list_of(report.status.keys));
  if (report.status.top) made.json("top", json_of(*report.status.top));
  return made.str();
}

}  // namespace weir::status
