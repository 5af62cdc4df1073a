// A running configuration: everything in it that the exchanges of a worker use.
//
// A reload creates the next generation and replaces the running one between two requests. An
// exchange pins the generation it began with, so a request is decided, forwarded and logged under
// one configuration. Its RequestRules are created once and read by all workers. A Generation
// belongs to one worker and is used by its thread only, so pins are counted without atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/traffic_counters.hpp"
#include "decision/request_rules.hpp"
#include "limiter/limiter.hpp"
#include "limiter/top_keys.hpp"
#include "log/access_log.hpp"
#include "options/proxy.hpp"
#include "rls/descriptor_rules.hpp"
#include "upstream/pool.hpp"

namespace weir::proxy {

struct Generation {
  std::shared_ptr<const decision::RequestRules> request_rules;
  std::shared_ptr<const void> store;  ///< kept alive for the limiter; null with the memory store
  std::unique_ptr<limiter::Limiter> limiter;  ///< destroyed before the store
  std::shared_ptr<const NamedCounters> counters;
  limiter::NameIds name_ids{};
  /// The rules of the rate limit service; null: it is not configured.
  std::shared_ptr<const rls::DescriptorRules> descriptor_rules{};
  std::vector<int> event_percents{};           ///< of limiter::QuotaEvents; empty: no events
  std::shared_ptr<log::AccessLog> access_log;  ///< shared by generations with the same options
  std::vector<std::unique_ptr<upstream::Pool>>
      pools;               ///< one per upstream, in the order of the file
  std::uint64_t number{};  ///< unique in the worker
  const options::Proxy& options = request_rules->options;
  std::size_t pins = 0;  ///< the number of Pins

  bool is_pinned() const { return pins != 0; }
};

/// Keeps a generation alive.
class Pin {
 public:
  Pin() = default;
  explicit Pin(Generation& generation) : generation_(&generation) { ++generation.pins; }
  Pin(Pin&& other) noexcept : generation_(std::exchange(other.generation_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(generation_, other.generation_);
    return *this;
  }
  ~Pin() {
    if (generation_ != nullptr) --generation_->pins;
  }

  Generation& operator*() const { return *generation_; }
  Generation* operator->() const { return generation_; }

 private:
  Generation* generation_ = nullptr;
};

}  // namespace weir::proxy
