#include "admin/status_source.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "admin/readiness.hpp"
#include "admin/sums.hpp"
#include "limiter/limiter.hpp"

namespace weir::admin {
namespace {

status::Process process_status(const Instruments& in, const ProcessStats& process,
                               const ReadinessReport& readiness) {
  return {.version = WEIR_VERSION,
          .state = std::string(readiness.state),
          .started_at_s = process.started_at_s,
          .workers = in.traffic.size(),
          .resident_bytes = process.resident_bytes,
          .connections =
              total(in.traffic, [](const auto* worker) { return worker->connections.value(); })};
}

status::Configuration configuration_status(const Instruments& in) {
  status::Configuration made{.hash = in.config_hash, .loaded_at_s = in.config_loaded_at_s};
  made.restart_needed.assign(in.restart_needed.begin(), in.restart_needed.end());
  if (in.shadow_reload != nullptr) made.shadow_reload = shadow_status(in.shadow_reload->state());
  if (in.reloads == nullptr) return made;
  made.reloads = in.reloads->ok.value();
  made.failed_reloads = in.reloads->failed.value();
  return made;
}

/// The sum of the counters of a route, except durations. Each change makes it larger.
std::uint64_t counted(const RouteCounters& part) {
  std::uint64_t sum = part.denied.value();
  for (const Counter& responses : part.by_class)
    sum += responses.value();
  return sum;
}

void add(status::Route& sum, const RouteCounters& part) {
  for (std::size_t i = 0; i < part.by_class.size(); ++i)
    sum.responses[i] += part.by_class[i].value();
  sum.denied += part.denied.value();
  sum.duration.add(part.duration);
}

status::Route route_status(const Instruments& in, std::size_t index) {
  status::Route route{.name = std::string(route_name(in, index))};
  for (const auto& worker : in.named)
    add(route, *worker->routes[index]);
  return route;
}

std::vector<status::Decider> decider_statuses(const Instruments& in) {
  using limiter::Decider;
  std::vector<status::Decider> deciders;
  const bool alone = in.shared_store.empty();
  for (const Decider decider : {Decider::memory, Decider::redis, Decider::local}) {
    if ((decider == Decider::memory) != alone) continue;
    status::Decider& made = deciders.emplace_back();
    made.name = to_string(decider);
    for (const auto* worker : in.traffic)
      made.duration.add(worker->decision_duration[static_cast<std::size_t>(decider)]);
  }
  return deciders;
}

std::vector<status::Upstream> upstream_statuses(const Instruments& in) {
  std::vector<status::Upstream> upstreams;
  for (std::size_t i = 0; i < in.upstreams.size(); ++i) {
    status::Upstream& made = upstreams.emplace_back();
    made.name = in.upstreams[i].name;
    for (const auto& worker : in.named) {
      const UpstreamCounters& counters = *worker->upstreams[i];
      made.answered += counters.answered.value();
      made.failed +=
          counters.connect_failed.value() + counters.timed_out.value() + counters.broken.value();
      made.unhealthy += counters.unhealthy.value();
    }
    for (std::size_t s = 0; s < in.upstreams[i].servers.size(); ++s) {
      const bool is_up = std::ranges::all_of(
          in.named, [&](const auto& worker) { return worker->servers_in_use[i][s]->value() != 0; });
      made.servers.push_back({.name = in.upstreams[i].servers[s].authority(), .is_up = is_up});
    }
  }
  return upstreams;
}

status::Breaker breaker_of(store::NodeControl::State state) {
  switch (state) {
    case store::NodeControl::State::half_open:
      return status::Breaker::half_open;
    case store::NodeControl::State::open:
      return status::Breaker::open;
    case store::NodeControl::State::closed:
      break;
  }
  return status::Breaker::closed;
}

status::SharedStore shared_store_status(const Instruments& in) {
  const InstancesStatus instances = in.store_health->instances();
  status::SharedStore made{
      .instances = instances.running,
      .differing = instances.differing,
      .replicas = in.replicas.value_or(instances.replicas),
      .fallbacks =
          total(in.shared_store, [](const auto& worker) { return worker.chain->alone.value(); }),
      .remembered = total(in.shared_store,
                          [](const auto& worker) { return worker.chain->remembered.value(); }),
      .leased =
          total(in.shared_store, [](const auto& worker) { return worker.chain->leased.value(); })};
  for (const auto& [server, node] : sum_nodes(in)) {
    made.nodes.push_back({.name = server,
                          .is_up = node.is_up,
                          .breaker = breaker_of(node.state),
                          .in_flight = node.in_flight,
                          .in_flight_limit = node.in_flight_limit,
                          .errors = node.errors,
                          .latency = node.latency});
  }
  return made;
}

status::Store store_status(const Instruments& in) {
  status::Store made{.is_up = in.store_health == nullptr || in.store_health->is_up(),
                     .memory_keys = in.store.keys(),
                     .memory_evictions = in.store.evictions()};
  if (in.store_health != nullptr) made.shared = shared_store_status(in);
  return made;
}

std::vector<status::TokenKeys> key_statuses(const Instruments& in) {
  std::vector<status::TokenKeys> keys;
  for (const KeySource& source : in.keys) {
    status::TokenKeys& made = keys.emplace_back();
    made.provider = source.provider;
    if (const auto age = source.health->age()) made.age = *age;
    made.fetched = source.health->ok.value();
    made.failed = source.health->failed.value();
    made.problem = source.health->degraded();
  }
  return keys;
}

}  // namespace

/// Reads what belongs to the configuration.
void StatusSource::learn(const Instruments& in) {
  routes_.clear();
  for (const std::size_t index : distinct_routes(in))
    routes_.push_back({.index = index});
  policies_.clear();
  const std::vector<bool> holding = holding_policies(in);
  for (std::size_t i = 0; i < holding.size(); ++i) {
    const limiter::Policy& policy = in.limiter.policies[i];
    policies_.push_back({.holds = holding[i], .queues = policy.queue > 0, .leases = policy.lease});
  }
}

/// A route is listed once more after its last change: its durations may have been read before the
/// worker had counted the request there.
void StatusSource::list_routes(const Instruments& in, status::Status& to) {
  const bool is_whole = !to.route_places;
  for (std::size_t place = 0; place < routes_.size(); ++place) {
    KnownRoute& route = routes_[place];
    const std::uint64_t now =
        total(in.named, [&](const auto& worker) { return counted(*worker->routes[route.index]); });
    const bool has_changed = now != route.counted;
    if (is_whole || has_changed || route.has_changed) {
      to.routes.push_back(route_status(in, route.index));
      if (!is_whole) to.route_places->push_back(place);
    }
    route.counted = now;
    route.has_changed = has_changed;
  }
}

StatusSource::PolicyNumbers StatusSource::numbers_of(const Instruments& in, std::size_t index,
                                                     const KnownPolicy& known) {
  PolicyNumbers sum;
  for (const auto& policies : in.policies) {
    const limiter::PolicyCounters& part = *policies[index];
    sum.decisions[0] += part.allowed.value();
    sum.decisions[1] += part.denied.value();
    sum.decisions[2] += part.shadow_denied.value();
    sum.decisions[3] += part.delayed.value();
    sum.decisions[4] += part.error.value();
    if (known.holds) sum.units[0] += part.held.value();
    if (known.queues) sum.units[1] += part.queued.value();
    if (known.leases) sum.units[2] += part.leased->value();
  }
  return sum;
}

status::Policy StatusSource::policy_status(const Instruments& in, std::size_t index,
                                           const KnownPolicy& known) {
  const limiter::Policy& policy = in.limiter.policies[index];
  const auto& [decisions, units] = known.numbers;
  status::Policy made{.name = policy.name,
                      .algorithm = std::string(to_string(policy.numbers.algorithm)),
                      .is_shadow = policy.shadow,
                      .allowed = decisions[0],
                      .denied = decisions[1],
                      .shadow_denied = decisions[2],
                      .delayed = decisions[3],
                      .errors = decisions[4]};
  if (known.holds) made.held = units[0];
  if (known.queues) made.queued = units[1];
  if (known.leases) made.leased = units[2];
  return made;
}

void StatusSource::list_policies(const Instruments& in, status::Status& to) {
  const bool is_whole = !to.policy_places;
  for (std::size_t place = 0; place < policies_.size(); ++place) {
    KnownPolicy& known = policies_[place];
    const PolicyNumbers now = numbers_of(in, place, known);
    if (!is_whole && now == known.numbers) continue;
    known.numbers = now;
    to.policies.push_back(policy_status(in, place, known));
    if (!is_whole) to.policy_places->push_back(place);
  }
}

status::Status StatusSource::read(const std::shared_ptr<const Instruments>& shown,
                                  const ProcessStats& process, Instant now) {
  const Instruments& in = *shown;
  ReadinessReport readiness = report_readiness(in);
  status::Status made{.at = now,
                      .process = process_status(in, process, readiness),
                      .configuration = configuration_status(in)};
  made.problems = std::move(readiness.problems);
  made.deciders = decider_statuses(in);
  made.upstreams = upstream_statuses(in);
  made.store = store_status(in);
  made.keys = key_statuses(in);
  const bool is_known = known_.lock() == shown;
  known_.reset();  // until nothing can fail any more
  if (is_known) {
    made.route_places.emplace();
    made.policy_places.emplace();
  } else {
    learn(in);
  }
  list_routes(in, made);
  list_policies(in, made);
  known_ = shown;
  return made;
}

}  // namespace weir::admin
