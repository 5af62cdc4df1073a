#include "admin/status_source.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

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

/// Adds up the statuses of a class at once: a sum for each status of each route would be large.
void add(status::Route& sum, const RouteCounters& part) {
  for (std::size_t i = 0; i < part.by_status.size(); ++i)
    sum.responses[i / 100] += part.by_status[i].value();
  sum.denied += part.denied.value();
  sum.duration.add(part.duration);
}

std::vector<status::Route> route_statuses(const Instruments& in) {
  std::vector<status::Route> routes;
  for (const std::size_t i : distinct_routes(in)) {
    status::Route& route = routes.emplace_back();
    route.name = route_name(in, i);
    for (const auto& worker : in.named)
      add(route, *worker->routes[i]);
  }
  return routes;
}

status::Policy policy_status(const Instruments& in, std::size_t index) {
  using limiter::PolicyCounters;
  const limiter::Policy& policy = in.limiter.policies[index];
  const auto count = [&](Counter PolicyCounters::*counter) {
    return total(in.policies,
                 [&](const auto& policies) { return (policies[index].get()->*counter).value(); });
  };
  const auto gauge = [&](Gauge PolicyCounters::*value) {
    return total(in.policies,
                 [&](const auto& policies) { return (policies[index].get()->*value).value(); });
  };
  status::Policy made{.name = policy.name,
                      .algorithm = std::string(to_string(policy.numbers.algorithm)),
                      .is_shadow = policy.shadow,
                      .allowed = count(&PolicyCounters::allowed),
                      .denied = count(&PolicyCounters::denied),
                      .shadow_denied = count(&PolicyCounters::shadow_denied),
                      .delayed = count(&PolicyCounters::delayed),
                      .errors = count(&PolicyCounters::error)};
  if (holds_units(in, index)) made.held = gauge(&PolicyCounters::held);
  if (policy.queue > 0) made.queued = gauge(&PolicyCounters::queued);
  if (policy.lease) {
    made.leased = total(in.policies,
                        [index](const auto& policies) { return policies[index]->leased->value(); });
  }
  return made;
}

std::vector<status::Policy> policy_statuses(const Instruments& in) {
  std::vector<status::Policy> policies;
  for (std::size_t i = 0; i < in.limiter.policies.size(); ++i)
    policies.push_back(policy_status(in, i));
  return policies;
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

status::Status read_status(const Instruments& instruments, const ProcessStats& process,
                           Instant now) {
  ReadinessReport readiness = report_readiness(instruments);
  status::Status made{.at = now,
                      .process = process_status(instruments, process, readiness),
                      .configuration = configuration_status(instruments)};
  made.problems = std::move(readiness.problems);
  made.routes = route_statuses(instruments);
  made.policies = policy_statuses(instruments);
  made.deciders = decider_statuses(instruments);
  made.upstreams = upstream_statuses(instruments);
  made.store = store_status(instruments);
  made.keys = key_statuses(instruments);
  return made;
}

}  // namespace weir::admin
