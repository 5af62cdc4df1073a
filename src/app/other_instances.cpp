#include "app/other_instances.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "app/log.hpp"

namespace weir::app {
namespace {

void log_without_share(const std::vector<std::string>& policies, std::int64_t replicas) {
  constexpr std::size_t most_names = 10;
  if (policies.empty()) return;
  std::string names = policies.front();
  for (std::size_t i = 1; i < std::min(policies.size(), most_names); ++i)
    names.append(", ").append(policies[i]);
  if (policies.size() > most_names)
    names += " and " + std::to_string(policies.size() - most_names) + " more";
  log_warning({std::to_string(replicas), " instances share quotas that have fewer units: while ",
               "redis does not decide, requests are answered 503 by the policies ", names,
               "; raise their quota, or set their on_failure"});
}

}  // namespace

void announce(redis::Topology& redis, InstanceWatch& instances, Instant now) {
  if (!redis.nodes().status().is_ready) return;
  const auto announcement = instances.due(now);
  if (!announcement) return;
  redis.announce(*announcement, now, [&instances, now](const redis::OtherInstances* others) {
    if (others == nullptr) return;
    for (const LogLine& line : instances.update(*others, now))
      write_to_log(line);
  });
}

void divide_quotas(limiter::Limiter& limiter, std::int64_t replicas, bool logs) {
  const auto without_share = limiter.local_shares().divide(replicas);
  if (logs) log_without_share(without_share, replicas);
}

void follow_replicas(proxy::Context& context, const InstanceWatch& instances, bool logs) noexcept {
  try {
    divide_quotas(*context.generation->limiter, instances.replicas(), logs);
  } catch (const std::exception& thrown) {  // no memory; the next tick tries again
    context.warn_of(thrown, "local shares are those of an earlier number of instances");
  }
}

}  // namespace weir::app
