// A running configuration: everything that the exchanges of a worker read or use of it.
//
// A reload makes the next generation beside the running one and replaces it between two requests.
// An exchange pins the generation that it began with, so a request is decided, forwarded and logged
// by one configuration. A Blueprint is made once and read by all workers; a Generation belongs to
// one worker, whose thread alone uses it, so pins are counted without atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/traffic_counters.hpp"
#include "limiter/limiter.hpp"
#include "proxy/access_log.hpp"
#include "proxy/request_rules.hpp"
#include "proxy/settings.hpp"
#include "proxy/upstream_pool.hpp"

namespace weir::proxy {

/// The part that depends on the configuration alone. Immutable; thread-safe.
struct Blueprint : RequestRules {
  explicit Blueprint(std::shared_ptr<const Settings> its_config)
      : RequestRules(*its_config), config(std::move(its_config)) {}
  Blueprint(const Blueprint&) = delete;
  Blueprint& operator=(const Blueprint&) = delete;

  std::shared_ptr<const Settings> config;
};

struct GenerationParts {
  std::shared_ptr<const Blueprint> blueprint;
  std::shared_ptr<const void> store;  ///< kept in existence for the limiter; the memory store: none
  std::unique_ptr<limiter::Limiter> limiter;  ///< destroyed before the store
  std::shared_ptr<const NamedCounters> counters;
  std::shared_ptr<AccessLog> access_log;  ///< shared by generations with the same options
  std::vector<std::unique_ptr<UpstreamPool>> pools;  ///< one an upstream, in the file's order
};

class Generation : public GenerationParts {
 public:
  /// `number`: unique in the worker.
  Generation(GenerationParts parts, std::uint64_t its_number)
      : GenerationParts(std::move(parts)), config(*blueprint->config), number(its_number) {}
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  bool is_pinned() const { return pins_ != 0; }

  const Settings& config;
  const std::uint64_t number;

 private:
  friend class Pin;
  std::size_t pins_ = 0;
};

/// Keeps a generation in existence.
class Pin {
 public:
  Pin() = default;
  explicit Pin(Generation& generation) : generation_(&generation) { ++generation.pins_; }
  Pin(Pin&& other) noexcept : generation_(std::exchange(other.generation_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(generation_, other.generation_);
    return *this;
  }
  ~Pin() {
    if (generation_ != nullptr) --generation_->pins_;
  }

  Generation& operator*() const { return *generation_; }
  Generation* operator->() const { return generation_; }

 private:
  Generation* generation_ = nullptr;
};

}  // namespace weir::proxy
