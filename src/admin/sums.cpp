#include "admin/sums.hpp"

#include <algorithm>
#include <unordered_set>

#include "limiter/policy.hpp"

namespace weir::admin {

void RouteSum::add(const RouteCounters& part) {
  for (std::size_t i = 0; i < by_status.size(); ++i)
    by_status[i] += part.by_status[i].value();
  for (std::size_t i = 0; i < by_grpc_status.size(); ++i)
    by_grpc_status[i] += part.by_grpc_status[i].value();
  denied += part.denied.value();
  duration.add(part.duration);
}

std::string_view route_name(const Instruments& in, std::size_t index) {
  const auto& routes = in.proxy.routes;
  if (index < routes.size()) return routes[index].name;
  const bool is_service = in.rate_limit_service != nullptr && index == routes.size();
  return is_service ? service_route : unmatched_route;
}

std::vector<std::size_t> distinct_routes(const Instruments& in) {
  std::vector<std::size_t> indexes;
  std::unordered_set<std::string_view> seen;
  const std::size_t last = in.proxy.routes.size() + (in.rate_limit_service != nullptr ? 1 : 0);
  for (std::size_t i = 0; i <= last; ++i) {
    if (seen.insert(route_name(in, i)).second) indexes.push_back(i);
  }
  return indexes;
}

std::vector<RouteSum> sum_routes(const Instruments& in) {
  std::vector<RouteSum> sums;
  for (const std::size_t i : distinct_routes(in)) {
    RouteSum& sum = sums.emplace_back(RouteSum{.name = route_name(in, i)});
    for (const auto& worker : in.named)
      sum.add(*worker->routes[i]);
  }
  return sums;
}

void NodeSum::add(const redis::NodeCounters& part) {
  is_up = is_up && part.is_ready.load(std::memory_order_relaxed);
  state = std::max(state, part.breaker.state.load(std::memory_order_relaxed));
  in_flight += part.breaker.in_flight.load(std::memory_order_relaxed);
  in_flight_limit += part.breaker.in_flight_limit.load(std::memory_order_relaxed);
  errors += part.breaker.errors.value();
  latency.add(part.breaker.latency);
}

NodeSums sum_nodes(const Instruments& in) {
  NodeSums nodes;
  for (const auto& worker : in.shared_store) {
    worker.nodes->each([&](const redis::NodeCountersList::Entry& entry) {
      if (entry.counters.users.load(std::memory_order_relaxed) > 0)
        nodes[entry.server].add(entry.counters);
    });
  }
  return nodes;
}

std::vector<bool> holding_policies(const Instruments& in) {
  std::vector<bool> holding(in.limiter.policies.size());
  for (const auto& route : in.proxy.routes) {
    for (const limiter::Limit& limit : route.limits)
      if (limiter::holds_cost(limit, in.limiter.policies[limit.policy]))
        holding[limit.policy] = true;
  }
  return holding;
}

}  // namespace weir::admin
