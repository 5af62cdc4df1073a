// The counters of a worker and the ids of policies, which a reload carries over by name. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
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

/// Ids of names, for as long as the process lives: a name that comes back finds its id again. An id
/// is never given to another name.
class NameRegistry {
 public:
  /// Returns the id of each name.
  std::vector<std::uint32_t> use(const std::vector<std::string>& names);
  /// By id, of all names that there have been.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

/// Ids of policies by name, for as long as the process lives.
///
/// The memory store keeps the state of a key under its policy's id, so a policy keeps its state
/// when a reload moves it, and finds it again when it was removed and comes back. An id is never
/// given to another name: names that were configured once stay here, some hundred bytes each.
class PolicyRegistry {
 public:
  struct Entry {
    std::uint32_t id = 0;
    /// Changes with the policy's definition or a plan's, which ends what was remembered of another
    /// one. A number is left free for each plan that changes the policy (limiter::PolicyRecord).
    std::uint32_t revision = 0;
  };

  /// One a policy, in their order. These policies are the running ones from now on.
  std::vector<Entry> use(const std::vector<limiter::Policy>& policies);
  /// By id, of all policies that there have been.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Known {
    Entry entry;
    rules::Policy numbers;
    std::vector<limiter::PlannedTerms> planned;
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace weir::app
