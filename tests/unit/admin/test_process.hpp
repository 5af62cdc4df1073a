// The instruments of a process for the tests of the admin room: the counters of two workers.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admin/instruments.hpp"
#include "config/config.hpp"

namespace weir::admin {

struct TestProcess {
  explicit TestProcess(std::vector<options::Route> routes = {}) {
    config.admin.emplace();
    config.proxy.routes = std::move(routes);
    config.upstreams.emplace_back().name = "api";
    config.limiter.policies.emplace_back().name = "per_client";
    for (int worker = 0; worker < 2; ++worker) {
      traffic.push_back(std::make_unique<TrafficCounters>());
      auto& its_names = *named.emplace_back(std::make_shared<NamedCounters>());
      for (std::size_t i = 0; i <= config.proxy.routes.size(); ++i)
        its_names.routes.push_back(counters_of_route(worker, i));
      its_names.upstreams.push_back(std::make_shared<UpstreamCounters>());
      its_names.servers_in_use.emplace_back();
      policies.push_back({std::make_shared<limiter::PolicyCounters>()});
    }
  }

  Instruments instruments() const {
    Instruments all{.config = nullptr,
                    .options = config.admin ? &*config.admin : nullptr,
                    .limiter = config.limiter,
                    .proxy = config.proxy,
                    .upstreams = config.upstreams,
                    .store = store,
                    .readiness = readiness,
                    .policies = policies,
                    .config_hash = "c0ffee",
                    .config_loaded_at_s = 1'700'000'000,
                    .reloads = &reloads,
                    .keys = keys};
    for (const auto& worker : traffic)
      all.traffic.push_back(worker.get());
    all.named.assign(named.begin(), named.end());
    if (config.store_type == config::StoreType::memory) return all;
    for (const auto& worker : shared)
      all.shared_store.push_back(
          {.store = &worker.store, .nodes = &worker.nodes, .chain = &worker.chain});
    all.store_health = &health;
    all.replicas = config.redis.replicas;
    return all;
  }
  std::shared_ptr<const Instruments> shown() const {
    return std::make_shared<Instruments>(instruments());
  }

  void share_store() { config.store_type = config::StoreType::redis; }

  struct Sharing {
    /// Of a node that is in use.
    redis::NodeCounters& node(std::string_view server = "redis:6379") {
      redis::NodeCounters& counters = nodes.of(server);
      counters.users = 1;
      return counters;
    }

    redis::StoreCounters store;
    redis::NodeCountersList nodes;
    store::ChainCounters chain;
  };

  config::Config config;
  store::MemoryStore store{{.max_keys = 100, .seed = 1}};
  std::atomic<Readiness> readiness{Readiness::ready};
  std::vector<std::unique_ptr<TrafficCounters>> traffic;
  std::vector<std::shared_ptr<NamedCounters>> named;
  std::vector<std::vector<std::shared_ptr<limiter::PolicyCounters>>> policies;
  std::array<Sharing, 2> shared;
  StoreHealth health{2};
  ReloadCounters reloads;
  std::vector<KeySource> keys;

 private:
  /// Routes of one name have the same counters.
  std::shared_ptr<RouteCounters> counters_of_route(int worker, std::size_t i) {
    const std::string name = i < config.proxy.routes.size() ? config.proxy.routes[i].name : "none";
    auto& counters = by_name_[{worker, name}];
    if (!counters) counters = std::make_shared<RouteCounters>();
    return counters;
  }
  std::map<std::pair<int, std::string>, std::shared_ptr<RouteCounters>> by_name_;
};

inline options::Route named_route(std::string name) {
  options::Route route;
  route.name = std::move(name);
  return route;
}

}  // namespace weir::admin
