#include "status/tables.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <vector>

namespace weir::status {
namespace {

/// Printed where there is no value.
constexpr std::string_view none = "\u2013";

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), format, value);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string rate_text(const Count& count) {
  if (!count.per_second) return std::string(none);
  return printed(*count.per_second >= 100 || *count.per_second == 0 ? "%.0f" : "%.1f",
                 *count.per_second);
}

std::string duration_text(Duration duration) {
  const double us = static_cast<double>(to_us(duration));
  if (us < 1'000) return printed("%.0f \u00b5s", us);
  if (us < 1'000'000) return printed(us < 10'000 ? "%.1f ms" : "%.0f ms", us / 1'000);
  return printed("%.1f s", us / 1'000'000);
}

std::string percentile_text(const std::optional<Percentiles>& durations,
                            Duration Percentiles::*percentile) {
  return durations ? duration_text((*durations).*percentile) : std::string(none);
}

std::string time_text(std::int64_t unix_s) {
  const std::chrono::sys_seconds at{std::chrono::seconds(unix_s)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  std::array<char, 64> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string optional_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string(none);
}

/// A table of which the first column names the row.
class Table {
 public:
  Table(std::string& out, std::string_view caption, std::initializer_list<std::string_view> columns)
      : out_(out) {
    out_ += "<table><caption>" + escaped(caption) + "</caption>\n<thead><tr>";
    for (const std::string_view column : columns)
      out_ += "<th scope=\"col\">" + escaped(column) + "</th>";
    out_ += "</tr></thead>\n<tbody>\n";
  }
  ~Table() { out_ += "</tbody></table>\n"; }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void row(std::string_view name, std::initializer_list<std::string> cells) {
    out_ += "<tr><th scope=\"row\">" + escaped(name) + "</th>";
    for (const std::string& cell : cells)
      out_ += "<td>" + escaped(cell) + "</td>";
    out_ += "</tr>\n";
  }
  /// Names the rows that are not shown.
  void omitted(std::size_t rows) {
    if (rows > 0) row(std::to_string(rows) + " more", {});
  }

 private:
  std::string& out_;
};

void write_policies(std::string& out, const Report& report) {
  Table table(out, "Policies",
              {"policy", "algorithm", "denied/s", "decisions/s", "shadow denied/s", "delayed/s",
               "errors/s", "denied, total", "decisions, total"});
  for (const PolicyRow& row : report.policies) {
    table.row(row.policy.name + (row.policy.is_shadow ? " (shadow)" : ""),
              {row.policy.algorithm, rate_text(row.denied), rate_text(row.decisions),
               rate_text(row.shadow_denied), rate_text(row.delayed), rate_text(row.errors),
               std::to_string(row.denied.total), std::to_string(row.decisions.total)});
  }
  table.omitted(report.omitted.policies);
}

/// One number, or the range that it is in.
std::string bounded_text(std::uint64_t most, std::uint64_t error) {
  const std::string least = error > 0 ? std::to_string(most - error) + "\u2013" : "";
  return least + std::to_string(most);
}

void write_top(std::string& out, const TopKeys& top) {
  Table table(out, "Most denied keys of the last " + duration_text(top.window),
              {"key", "identity", "policy", "route", "denied", "requests"});
  for (const TopKey& key : top.keys) {
    table.row(key.hash,
              {key.identity, key.policy, key.route, bounded_text(key.denied, key.denied_error),
               bounded_text(key.requests, key.requests_error)});
  }
}

void write_routes(std::string& out, const Report& report) {
  Table table(out, "Routes",
              {"route", "denied/s", "requests/s", "4xx/s", "5xx/s", "p50", "p90", "p99",
               "denied, total", "requests, total"});
  for (const RouteRow& row : report.routes) {
    table.row(row.name,
              {rate_text(row.denied), rate_text(row.requests), rate_text(row.client_errors),
               rate_text(row.server_errors), percentile_text(row.duration, &Percentiles::p50),
               percentile_text(row.duration, &Percentiles::p90),
               percentile_text(row.duration, &Percentiles::p99), std::to_string(row.denied.total),
               std::to_string(row.requests.total)});
  }
  table.omitted(report.omitted.routes);
}

void write_deciders(std::string& out, const Report& report) {
  Table table(out, "Decisions by store",
              {"store", "decisions/s", "p50", "p90", "p99", "decisions, total"});
  for (const DeciderRow& row : report.deciders) {
    table.row(row.name, {rate_text(row.decisions), percentile_text(row.duration, &Percentiles::p50),
                         percentile_text(row.duration, &Percentiles::p90),
                         percentile_text(row.duration, &Percentiles::p99),
                         std::to_string(row.decisions.total)});
  }
}

void write_nodes(std::string& out, const Report& report) {
  Table table(out, "Redis servers",
              {"server", "state", "breaker", "in flight", "in flight, at most", "decisions/s",
               "errors/s", "p50", "p99"});
  for (const NodeRow& row : report.nodes) {
    table.row(row.node.name,
              {row.node.is_up ? "up" : "down", std::string(to_string(row.node.breaker)),
               std::to_string(row.node.in_flight), std::to_string(row.node.in_flight_limit),
               rate_text(row.decisions), rate_text(row.errors),
               percentile_text(row.latency, &Percentiles::p50),
               percentile_text(row.latency, &Percentiles::p99)});
  }
  table.omitted(report.omitted.nodes);
}

void write_store(std::string& out, const Store& store) {
  Table table(out, "Store", {"", "value"});
  table.row("type", {store.shared ? "redis" : "memory"});
  table.row("state", {store.is_up ? "up" : "down"});
  if (store.shared) {
    table.row("instances", {std::to_string(store.shared->instances)});
    table.row("instances that differ", {std::to_string(store.shared->differing)});
    table.row("replicas", {std::to_string(store.shared->replicas)});
    table.row("decided by on_failure", {std::to_string(store.shared->fallbacks)});
    table.row("remembered denials", {std::to_string(store.shared->remembered)});
    table.row("decided from leases", {std::to_string(store.shared->leased)});
  }
  table.row("keys in memory", {std::to_string(store.memory_keys)});
  table.row("keys evicted", {std::to_string(store.memory_evictions)});
}

void write_upstreams(std::string& out, const Report& report) {
  if (report.upstreams.empty()) return;
  Table table(out, "Upstreams",
              {"upstream", "servers up", "servers down", "answered/s", "failed/s", "unhealthy/s",
               "answered, total", "failed, total"});
  for (const UpstreamRow& row : report.upstreams) {
    std::string up, down;
    for (const Server& server : row.servers) {
      std::string& list = server.is_up ? up : down;
      list += (list.empty() ? "" : ", ") + server.name;
    }
    table.row(row.name,
              {up.empty() ? std::string(none) : up, down.empty() ? std::string(none) : down,
               rate_text(row.answered), rate_text(row.failed), rate_text(row.unhealthy),
               std::to_string(row.answered.total), std::to_string(row.failed.total)});
  }
  table.omitted(report.omitted.upstreams);
}

bool holds(const Policy& policy) {
  return policy.held || policy.queued || policy.leased;
}

void write_holds(std::string& out, const Report& report) {
  if (std::ranges::none_of(report.policies, holds, &PolicyRow::policy)) return;
  Table table(out, "Holds, queues and leases",
              {"policy", "units held", "requests queued", "units leased"});
  for (const PolicyRow& row : report.policies) {
    if (!holds(row.policy)) continue;
    table.row(row.policy.name, {optional_text(row.policy.held), optional_text(row.policy.queued),
                                optional_text(row.policy.leased)});
  }
}

void write_keys(std::string& out, const std::vector<TokenKeys>& keys) {
  if (keys.empty()) return;
  Table table(out, "Keys of token issuers", {"provider", "age", "fetched", "failed", "problem"});
  for (const TokenKeys& one : keys) {
    table.row(one.provider,
              {one.age ? std::to_string(ceil_seconds(*one.age)) + " s" : std::string(none),
               std::to_string(one.fetched), std::to_string(one.failed),
               one.problem.empty() ? std::string(none) : one.problem});
  }
}

void write_shadow_reload(std::string& out, const ShadowReload& shadow) {
  if (shadow.is_none()) return;
  Table table(out, "Reload in shadow",
              {"state", "until", "flips", "decisions", "max flips", "not compared", "configuration",
               "reason"});
  table.row(shadow.state,
            {shadow.until, std::to_string(shadow.flips), std::to_string(shadow.decisions),
             shadow.max_flips, std::to_string(shadow.skipped), shadow.hash,
             shadow.reason.empty() ? std::string(none) : shadow.reason});
}

void write_instance(std::string& out, const Status& status) {
  Table table(out, "Instance", {"", "value"});
  table.row("state", {status.process.state});
  table.row("version", {status.process.version});
  table.row("started", {time_text(status.process.started_at_s)});
  table.row("workers", {std::to_string(status.process.workers)});
  table.row("client connections", {std::to_string(status.process.connections)});
  table.row(
      "resident memory",
      {printed("%.0f MiB", static_cast<double>(status.process.resident_bytes) / (1024 * 1024))});
  const Configuration& configuration = status.configuration;
  table.row("configuration", {configuration.hash});
  table.row("loaded", {time_text(configuration.loaded_at_s)});
  table.row("reloads", {std::to_string(configuration.reloads)});
  table.row("failed reloads", {std::to_string(configuration.failed_reloads)});
  for (const std::string& key : configuration.restart_needed)
    table.row("needs a restart", {key});
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string tables_of(const Report& report) {
  std::string out = report.over ? "<p>Rates and percentiles cover the last " +
                                      duration_text(*report.over) + ".</p>\n"
                                : "<p>Rates and percentiles appear when the page is loaded again: "
                                  "they cover the time between two loads.</p>\n";
  for (const std::string& problem : report.status.problems)
    out += "<p class=\"problem\">" + escaped(problem) + "</p>\n";
  write_policies(out, report);
  if (report.status.top) write_top(out, *report.status.top);
  write_routes(out, report);
  write_deciders(out, report);
  write_store(out, report.status.store);
  if (report.status.store.shared) write_nodes(out, report);
  write_upstreams(out, report);
  write_holds(out, report);
  write_keys(out, report.status.keys);
  write_shadow_reload(out, report.status.configuration.shadow_reload);
  write_instance(out, report.status);
  return out;
}

}  // namespace weir::status
