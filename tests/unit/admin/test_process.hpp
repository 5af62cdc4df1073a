// A process for the admin room to look at: two workers' counters that a test sets as it likes.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <memory>
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
      traffic.push_back(
          std::make_unique<TrafficCounters>(config.routes.size(), config.upstreams.size()));
      policies.push_back(
          std::make_unique<std::vector<limiter::PolicyCounters>>(config.policies.size()));
    }
  }

  Instruments instruments() const {
    Instruments all{.config = config,
                    .options = config.admin ? &*config.admin : nullptr,
                    .store = store,
                    .readiness = readiness,
                    .traffic = {},
                    .policies = {},
                    .access_log = nullptr};
    for (const auto& worker : traffic)
      all.traffic.push_back(worker.get());
    for (const auto& worker : policies)
      all.policies.emplace_back(*worker);
    if (config.store_type == config::StoreType::memory) return all;
    for (const auto& worker : shared)
      all.shared_store.push_back({.store = &worker.store, .chain = &worker.chain});
    all.store_health = &health;
    return all;
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
  std::vector<std::unique_ptr<std::vector<limiter::PolicyCounters>>> policies;
  std::array<Sharing, 2> shared;
  StoreHealth health{2};
};

inline proxy::Route named_route(std::string name) {
  proxy::Route route;
  route.name = std::move(name);
  return route;
}

}  // namespace weir::admin
