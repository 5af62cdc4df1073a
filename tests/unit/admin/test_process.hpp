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
  explicit TestProcess(std::vector<proxy::Route> routes = {}) {
    config.admin.emplace();
    config.routes = std::move(routes);
    config.upstreams.emplace_back().name = "api";
    config.policies.emplace_back().name = "per_client";
    for (int worker = 0; worker < 2; ++worker) {
      traffic.push_back(std::make_unique<TrafficCounters>());
      auto& its_names = *named.emplace_back(std::make_shared<NamedCounters>());
      for (std::size_t i = 0; i <= config.routes.size(); ++i)
        its_names.routes.push_back(counters_of_route(worker, i));
      its_names.upstreams.push_back(std::make_shared<UpstreamCounters>());
      its_names.servers_in_use.emplace_back();
      policies.push_back({std::make_shared<limiter::PolicyCounters>()});
    }
  }

  Instruments instruments() const {
    Instruments all{.config = {std::shared_ptr<void>(), &config},
                    .options = config.admin ? &*config.admin : nullptr,
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
      all.shared_store.push_back({.store = &worker.store, .chain = &worker.chain});
    all.store_health = &health;
    return all;
  }
  std::shared_ptr<const Instruments> shown() const {
    return std::make_shared<Instruments>(instruments());
  }

  void share_store() { config.store_type = config::StoreType::redis; }

  struct Sharing {
    redis::StoreCounters store;
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
    const std::string name = i < config.routes.size() ? config.routes[i].name : "none";
    auto& counters = by_name_[{worker, name}];
    if (!counters) counters = std::make_shared<RouteCounters>();
    return counters;
  }
  std::map<std::pair<int, std::string>, std::shared_ptr<RouteCounters>> by_name_;
};

inline proxy::Route named_route(std::string name) {
  proxy::Route route;
  route.name = std::move(name);
  return route;
}

}  // namespace weir::admin
