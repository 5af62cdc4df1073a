// The counters of one worker by name, which go on when the configuration changes. Pure.
#pragma once

#include <memory>
#include <vector>

#include "base/traffic_counters.hpp"
#include "config/config.hpp"
#include "limiter/limiter.hpp"

namespace weir::app {

struct WorkerCounters {
  std::shared_ptr<const NamedCounters> named;
  std::vector<std::shared_ptr<limiter::PolicyCounters>> policies;  ///< in their order
};

/// Counters for `next`: those of `before`, which are of `running`, where the name is the same, else
/// new ones. Those of names that are gone are dropped.
WorkerCounters carried_over(const config::Config& running, const WorkerCounters& before,
                            const config::Config& next);
WorkerCounters new_counters(const config::Config& config);

}  // namespace weir::app
