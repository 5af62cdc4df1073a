// What the admin server can see of the running process. Everything is owned elsewhere and outlives
// the server; everything may be read from its thread while the workers write.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "admin/options.hpp"
#include "admin/store_health.hpp"
#include "base/line_writer.hpp"
#include "base/traffic_counters.hpp"
#include "limiter/limiter.hpp"
#include "proxy/settings.hpp"
#include "redis/store.hpp"
#include "store/chain_counters.hpp"
#include "store/memory_store.hpp"

namespace weir::admin {

enum class Readiness : std::uint8_t { starting, ready, draining };

/// What one worker counts about the store that instances share.
struct SharedStoreCounters {
  const redis::StoreCounters* store = nullptr;
  const store::ChainCounters* chain = nullptr;
};

struct Instruments {
  const proxy::Settings& config;
  const Options* options;  ///< of the admin API; nullptr: it is off
  const store::MemoryStore& store;
  const std::atomic<Readiness>& readiness;
  std::vector<const TrafficCounters*> traffic;                     ///< one a worker
  std::vector<std::span<const limiter::PolicyCounters>> policies;  ///< one a worker
  const LineWriter* access_log = nullptr;                          ///< nullptr: no access log
  std::vector<SharedStoreCounters> shared_store{};                 ///< one a worker; memory: none
  const StoreHealth* store_health = nullptr;                       ///< nullptr: memory
};

}  // namespace weir::admin
