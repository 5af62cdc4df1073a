#include "app/carried_over.hpp"

#include <algorithm>

#include "admin/sums.hpp"

namespace weir::app {
namespace {

template <class T>
using Shared = std::vector<std::shared_ptr<T>>;
using Names = std::vector<std::string>;

/// As metrics name them: entries of one name are one series.
Names route_names(const config::Config& config) {
  Names names;
  for (const auto& route : config.proxy.routes)
    names.push_back(route.name);
  if (config.rate_limit_service) names.emplace_back(admin::service_route);
  names.emplace_back(admin::unmatched_route);
  return names;
}

template <class Entries>
Names names_of(const Entries& entries) {
  Names names;
  for (const auto& entry : entries)
    names.push_back(entry.name);
  return names;
}

/// The same for every spelling of a URL. Unique, even where an upstream has a server twice.
Names server_names(const options::Upstream& upstream) {
  Names names;
  for (const auto& server : upstream.servers) {
    std::string name =
        upstream.name + '\n' + (server.secure ? "https " : "http ") + server.authority();
    while (std::find(names.begin(), names.end(), name) != names.end())
      name += '\n';
    names.push_back(std::move(name));
  }
  return names;
}

template <class T>
using ByName = std::unordered_map<std::string, std::shared_ptr<T>>;

template <class T>
void add(ByName<T>& all, const Names& names, const Shared<T>& counters) {
  for (std::size_t i = 0; i < names.size(); ++i)
    all.emplace(names[i], counters[i]);
}

template <class T>
Shared<T> pick(ByName<T>& all, const Names& names) {
  Shared<T> picked;
  for (const auto& name : names) {
    auto& counters = all[name];
    if (!counters) counters = std::make_shared<T>();
    picked.push_back(counters);
  }
  return picked;
}

struct Known {
  ByName<RouteCounters> routes;
  ByName<UpstreamCounters> upstreams;
  ByName<Gauge> servers;
  ByName<TokenCounters> token_providers;
  ByName<limiter::PolicyCounters> policies;
};

WorkerCounters pick_all(Known& known, const config::Config& config) {
  auto named = std::make_shared<NamedCounters>();
  named->routes = pick(known.routes, route_names(config));
  named->upstreams = pick(known.upstreams, names_of(config.upstreams));
  named->token_providers = pick(known.token_providers, names_of(config.limiter.token_providers));
  for (const auto& upstream : config.upstreams)
    named->servers_in_use.push_back(pick(known.servers, server_names(upstream)));
  return {.named = std::move(named),
          .policies = pick(known.policies, names_of(config.limiter.policies))};
}

}  // namespace

WorkerCounters carried_over(const config::Config& running, const WorkerCounters& before,
                            const config::Config& next) {
  Known known;
  add(known.routes, route_names(running), before.named->routes);
  add(known.upstreams, names_of(running.upstreams), before.named->upstreams);
  add(known.token_providers, names_of(running.limiter.token_providers),
      before.named->token_providers);
  add(known.policies, names_of(running.limiter.policies), before.policies);
  for (std::size_t i = 0; i < running.upstreams.size(); ++i)
    add(known.servers, server_names(running.upstreams[i]), before.named->servers_in_use[i]);
  return pick_all(known, next);
}

WorkerCounters new_counters(const config::Config& config) {
  Known known;
  return pick_all(known, config);
}

std::vector<std::uint32_t> NameRegistry::use(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> ids;
  for (const std::string& name : names) {
    const auto [place, is_new] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    ids.push_back(place->second);
  }
  return ids;
}

std::vector<PolicyRegistry::Entry> PolicyRegistry::use(
    const std::vector<limiter::Policy>& policies) {
  std::vector<Entry> entries;
  for (const auto& policy : policies) {
    const Entry fresh{.id = static_cast<std::uint32_t>(names_.size())};
    const auto [place, is_new] =
        known_.try_emplace(policy.name, Known{fresh, policy.numbers, policy.planned});
    Known& known = place->second;
    if (is_new) names_.push_back(policy.name);
    if (known.numbers != policy.numbers || known.planned != policy.planned) {
      known.entry.revision += 1 + static_cast<std::uint32_t>(known.planned.size());
      known.numbers = policy.numbers;
      known.planned = policy.planned;
    }
    entries.push_back(known.entry);
  }
  return entries;
}

}  // namespace weir::app
