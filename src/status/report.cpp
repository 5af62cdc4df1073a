#include "status/report.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weir::status {
namespace {

/// Counts since an earlier status; `seconds` is 0 if there is none.
class Since {
 public:
  Since(const Instant* earlier, Instant later) {
    if (earlier == nullptr || later <= *earlier) return;
    over_ = later - *earlier;
    seconds_ = std::chrono::duration<double>(*over_).count();
  }

  std::optional<Duration> over() const { return over_; }
  Count count(std::uint64_t now, std::uint64_t before) const {
    if (!over_) return {.total = now};
    const std::uint64_t added = now >= before ? now - before : now;
    return {.total = now, .per_second = static_cast<double>(added) / seconds_};
  }
  std::optional<Percentiles> percentiles(const HistogramSum& now,
                                         const HistogramSum& before) const {
    return over_ ? percentiles_of(difference(now, before)) : std::nullopt;
  }

 private:
  std::optional<Duration> over_;
  double seconds_ = 0;
};

/// Finds the entry of an earlier list by name; one that is missing is empty.
template <class Entry>
class Earlier {
 public:
  explicit Earlier(const std::vector<Entry>* entries) {
    if (entries == nullptr) return;
    for (const Entry& entry : *entries)
      by_name_.emplace(entry.name, &entry);
  }
  const Entry& operator[](const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? none_ : *found->second;
  }

 private:
  std::unordered_map<std::string_view, const Entry*> by_name_;
  Entry none_{};
};

std::uint64_t total_of(const Route& route) {
  return std::accumulate(route.responses.begin(), route.responses.end(), std::uint64_t{0});
}

std::uint64_t total_of(const Policy& policy) {
  return policy.allowed + policy.denied + policy.shadow_denied + policy.delayed + policy.errors;
}

std::uint64_t total_of(const HistogramSum& durations) {
  return std::accumulate(durations.buckets.begin(), durations.buckets.end(), std::uint64_t{0});
}

RouteRow row_of(Route now, const Route& before, const Since& since) {
  return {.name = std::move(now.name),
          .requests = since.count(total_of(now), total_of(before)),
          .denied = since.count(now.denied, before.denied),
          .client_errors = since.count(now.responses[3], before.responses[3]),
          .server_errors = since.count(now.responses[4], before.responses[4]),
          .duration = since.percentiles(now.duration, before.duration)};
}

PolicyRow row_of(Policy now, const Policy& before, const Since& since) {
  PolicyRow row{.policy = {},
                .decisions = since.count(total_of(now), total_of(before)),
                .denied = since.count(now.denied, before.denied),
                .shadow_denied = since.count(now.shadow_denied, before.shadow_denied),
                .delayed = since.count(now.delayed, before.delayed),
                .errors = since.count(now.errors, before.errors)};
  row.policy = std::move(now);
  return row;
}

DeciderRow row_of(Decider now, const Decider& before, const Since& since) {
  return {.name = std::move(now.name),
          .decisions = since.count(total_of(now.duration), total_of(before.duration)),
          .duration = since.percentiles(now.duration, before.duration)};
}

UpstreamRow row_of(Upstream now, const Upstream& before, const Since& since) {
  return {.name = std::move(now.name),
          .answered = since.count(now.answered, before.answered),
          .failed = since.count(now.failed, before.failed),
          .unhealthy = since.count(now.unhealthy, before.unhealthy),
          .servers = std::move(now.servers)};
}

NodeRow row_of(Node now, const Node& before, const Since& since) {
  NodeRow row{.node = {},
              .decisions = since.count(total_of(now.latency), total_of(before.latency)),
              .errors = since.count(now.errors, before.errors),
              .latency = since.percentiles(now.latency, before.latency)};
  row.node = std::move(now);
  return row;
}

template <class Entry>
auto rows_of(std::vector<Entry>& now, const std::vector<Entry>* before, const Since& since) {
  const Earlier<Entry> earlier(before);
  std::vector<decltype(row_of(std::move(now.front()), now.front(), since))> rows;
  rows.reserve(now.size());
  for (Entry& entry : now) {
    const Entry& was = earlier[entry.name];
    rows.push_back(row_of(std::move(entry), was, since));
  }
  now.clear();
  return rows;
}

double rate_of(const Count& count) {
  return count.per_second.value_or(0);
}

/// Sorts the rows by what is denied or fails, then by all they count, and drops the last ones.
/// Returns how many.
template <class Row>
std::size_t keep_first(std::vector<Row>& rows, Count Row::*first, Count Row::*second) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    return std::pair(rate_of(a.*first), rate_of(a.*second)) >
           std::pair(rate_of(b.*first), rate_of(b.*second));
  });
  if (rows.size() <= most_rows) return 0;
  const std::size_t omitted = rows.size() - most_rows;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(most_rows), rows.end());
  return omitted;
}

template <class Entry>
const std::vector<Entry>* earlier_list(const Status* status, std::vector<Entry> Status::*list) {
  return status == nullptr ? nullptr : &(status->*list);
}

}  // namespace

TrafficSum sum_of(const Status& status) {
  TrafficSum sum{.at = status.at};
  for (const Route& route : status.routes) {
    sum.requests += total_of(route);
    sum.denied += route.denied;
    sum.server_errors += route.responses[4];
    sum.duration.add(route.duration);
  }
  return sum;
}

Traffic traffic_between(const TrafficSum* earlier, const TrafficSum& later) {
  const TrafficSum none;
  const Since since(earlier == nullptr ? nullptr : &earlier->at, later.at);
  const TrafficSum& before = earlier == nullptr ? none : *earlier;
  return {.requests = since.count(later.requests, before.requests),
          .denied = since.count(later.denied, before.denied),
          .server_errors = since.count(later.server_errors, before.server_errors),
          .duration = since.percentiles(later.duration, before.duration)};
}

Report compare(const Status* earlier, Status later) {
  const Since since(earlier == nullptr ? nullptr : &earlier->at, later.at);
  const auto earlier_sum = earlier == nullptr ? TrafficSum{} : sum_of(*earlier);
  Report report{.status = {}, .over = since.over()};
  report.traffic = traffic_between(earlier == nullptr ? nullptr : &earlier_sum, sum_of(later));
  report.routes = rows_of(later.routes, earlier_list(earlier, &Status::routes), since);
  report.policies = rows_of(later.policies, earlier_list(earlier, &Status::policies), since);
  report.deciders = rows_of(later.deciders, earlier_list(earlier, &Status::deciders), since);
  report.upstreams = rows_of(later.upstreams, earlier_list(earlier, &Status::upstreams), since);
  if (later.store.shared) {
    const bool was_shared = earlier != nullptr && earlier->store.shared;
    report.nodes = rows_of(later.store.shared->nodes,
                           was_shared ? &earlier->store.shared->nodes : nullptr, since);
  }
  report.omitted = {
      .routes = keep_first(report.routes, &RouteRow::denied, &RouteRow::requests),
      .policies = keep_first(report.policies, &PolicyRow::denied, &PolicyRow::decisions),
      .upstreams = keep_first(report.upstreams, &UpstreamRow::failed, &UpstreamRow::answered),
      .nodes = keep_first(report.nodes, &NodeRow::errors, &NodeRow::decisions)};
  report.status = std::move(later);
  return report;
}

}  // namespace weir::status
