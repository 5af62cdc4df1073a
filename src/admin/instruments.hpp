// The counters and settings that the admin server shows; a reload replaces them as a whole. Objects
// behind plain pointers outlive the server. The server's thread may read everything while the
// workers write.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/key_health.hpp"
#include "admin/reload_report.hpp"
#include "admin/shadow_reload.hpp"
#include "admin/store_health.hpp"
#include "admin/webhook_counters.hpp"
#include "base/traffic_counters.hpp"
#include "limiter/limiter.hpp"
#include "limiter/options.hpp"
#include "limiter/quota_events.hpp"
#include "log/line_writer.hpp"
#include "options/admin.hpp"
#include "options/proxy.hpp"
#include "options/rate_limit_service.hpp"
#include "options/upstream.hpp"
#include "redis/node_counters.hpp"
#include "redis/outcomes.hpp"
#include "store/chain_counters.hpp"
#include "store/memory_store.hpp"
#include "telemetry/export_counters.hpp"
#include "telemetry/span_queue.hpp"

namespace weir::admin {

enum class Readiness : std::uint8_t { starting, ready, draining };

/// Counters of one worker about the store that instances share.
struct SharedStoreCounters {
  const redis::StoreCounters* store = nullptr;
  const redis::NodeCountersList* nodes = nullptr;
  const store::ChainCounters* chain = nullptr;
};

struct Instruments {
  std::shared_ptr<const void> config;  ///< keeps the options alive
  const options::Admin* options;       ///< of the admin API; nullptr: it is off
  const limiter::Options& limiter;
  const options::Proxy& proxy;
  const std::vector<options::Upstream>& upstreams;
  const store::MemoryStore& store;
  const std::atomic<Readiness>& readiness;
  std::vector<const TrafficCounters*> traffic{};  ///< one a worker
  /// One a worker, in the order of the options.
  std::vector<std::shared_ptr<const NamedCounters>> named{};
  /// One list a worker, in the order of limiter::Options::policies.
  std::vector<std::vector<std::shared_ptr<limiter::PolicyCounters>>> policies{};
  std::shared_ptr<const log::LineWriter> access_log{};  ///< nullptr: no access log
  std::vector<SharedStoreCounters> shared_store{};      ///< one a worker; memory: none
  const StoreHealth* store_health = nullptr;            ///< nullptr: memory
  std::optional<std::int64_t> replicas{};               ///< empty: that of store_health
  std::string config_hash{};                            ///< 64 hexadecimal digits
  std::int64_t config_loaded_at_s = 0;                  ///< Unix time
  std::string_view config_document = "null";  ///< as JSON, without secrets; `config` keeps it alive
  std::span<const std::string> restart_needed{};  ///< keys that wait for a restart, likewise
  const ReloadCounters* reloads = nullptr;
  const ShadowReload* shadow_reload = nullptr;
  const FileReloads* file_reloads = nullptr;
  std::vector<KeySource> keys{};  ///< of JWT providers with a URL
  const limiter::UnknownPlans* unknown_plans = nullptr;
  const limiter::QuotaEvents* quota_events = nullptr;
  const telemetry::ExportCounters* exports = nullptr;  ///< nullptr: nothing is exported
  std::vector<const telemetry::SpanQueue*> spans{};    ///< one a worker
  std::span<const int> event_percents{};               ///< of them; `config` keeps it alive
  const options::RateLimitService* rate_limit_service = nullptr;  ///< nullptr: not configured
  std::vector<std::uint32_t> policy_ids{};   ///< in the order of limiter::Options::policies
  const WebhookCounters* webhook = nullptr;  ///< of the events; nullptr: there is none
};

/// Adds up one counter of every worker.
template <class Worker, class Value>
auto total(const std::vector<Worker>& workers, Value&& value) {
  decltype(value(workers.front())) sum = 0;
  for (const auto& worker : workers)
    sum += value(worker);
  return sum;
}

}  // namespace weir::admin
