#include "status/report.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
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

RouteRow row_of(const Route& now, const Route& before, const Since& since) {
  return {.name = now.name,
          .requests = since.count(total_of(now), total_of(before)),
          .denied = since.count(now.denied, before.denied),
          .client_errors = since.count(now.responses[3], before.responses[3]),
          .server_errors = since.count(now.responses[4], before.responses[4]),
          .duration = since.percentiles(now.duration, before.duration)};
}

PolicyRow row_of(const Policy& now, const Policy& before, const Since& since) {
  return {.policy = now,
          .decisions = since.count(total_of(now), total_of(before)),
          .denied = since.count(now.denied, before.denied),
          .shadow_denied = since.count(now.shadow_denied, before.shadow_denied),
          .delayed = since.count(now.delayed, before.delayed),
          .errors = since.count(now.errors, before.errors)};
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

/// A row of a long list before it is made.
struct Ranked {
  std::uint64_t first = 0, second = 0;  ///< what the rows are sorted by
  std::size_t place = 0;
  std::size_t changed = 0;  ///< in History::changed, if it is there

  bool operator<(const Ranked& other) const {
    return std::tuple(other.first, other.second, place) < std::tuple(first, second, other.place);
  }
};

std::uint64_t added(std::uint64_t now, std::uint64_t before) {
  return now >= before ? now - before : now;
}

Ranked rank_of(const Route& now, const Route& before) {
  return {.first = added(now.denied, before.denied),
          .second = added(total_of(now), total_of(before))};
}

Ranked rank_of(const Policy& now, const Policy& before) {
  return {.first = added(now.denied, before.denied),
          .second = added(total_of(now), total_of(before))};
}

/// The first rows of a long list. Those that have not changed are all alike, so as many as fit are
/// enough.
template <class Entry>
auto first_rows(const History<Entry>& list, const Since& since) {
  const std::vector<Entry>& now = list.now();
  const auto& changed = list.changed();
  std::vector<Ranked> ranked;
  ranked.reserve(changed.size() + most_rows);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    Ranked one;
    if (since.over()) one = rank_of(now[changed[i].place], changed[i].base);
    one.place = changed[i].place;
    one.changed = i;
    ranked.push_back(one);
  }
  std::size_t idle = 0;
  for (std::size_t place = 0; place < now.size() && idle < most_rows; ++place) {
    if (list.is_changed(place)) continue;
    ranked.push_back({.place = place, .changed = changed.size()});
    ++idle;
  }
  const std::size_t shown = std::min(ranked.size(), most_rows);
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown),
                    ranked.end());
  std::vector<decltype(row_of(now.front(), now.front(), since))> rows;
  rows.reserve(shown);
  for (const Ranked& one : std::span(ranked).first(shown)) {
    const Entry& entry = now[one.place];
    rows.push_back(
        row_of(entry, one.changed < changed.size() ? changed[one.changed].base : entry, since));
  }
  return rows;
}

template <class Entry>
const std::vector<Entry>* earlier_list(const Status* status, std::vector<Entry> Status::*list) {
  return status == nullptr ? nullptr : &(status->*list);
}

}  // namespace

void TrafficSum::add(const Route& route) {
  requests += total_of(route);
  denied += route.denied;
  server_errors += route.responses[4];
  duration.add(route.duration);
}

void TrafficSum::subtract(const Route& route) {
  requests -= total_of(route);
  denied -= route.denied;
  server_errors -= route.responses[4];
  duration = difference(duration, route.duration);
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

Report compare(const Status* earlier, Status later, const Lists& lists, Traffic traffic) {
  const Since since(earlier == nullptr ? nullptr : &earlier->at, later.at);
  Report report{.status = {}, .over = since.over(), .traffic = std::move(traffic)};
  report.routes = first_rows(lists.routes, since);
  report.policies = first_rows(lists.policies, since);
  report.deciders = rows_of(later.deciders, earlier_list(earlier, &Status::deciders), since);
  report.upstreams = rows_of(later.upstreams, earlier_list(earlier, &Status::upstreams), since);
  if (later.store.shared) {
    const bool was_shared = earlier != nullptr && earlier->store.shared;
    report.nodes = rows_of(later.store.shared->nodes,
                           was_shared ? &earlier->store.shared->nodes : nullptr, since);
  }
  report.omitted = {
      .routes = lists.routes.now().size() - report.routes.size(),
      .policies = lists.policies.now().size() - report.policies.size(),
      .upstreams = keep_first(report.upstreams, &UpstreamRow::failed, &UpstreamRow::answered),
      .nodes = keep_first(report.nodes, &NodeRow::errors, &NodeRow::decisions)};
  report.status = std::move(later);
  return report;
}

}  // namespace weir::status
