#include "app/shared_store.hpp"

#include "app/algorithm_sets.hpp"

namespace weir::app {
namespace {

redis::StoreSetup setup_of(const config::Config& config, std::uint64_t seed) {
  std::vector<std::span<const limiter::Limit>> limits;
  for (const auto& route : config.routes)
    limits.emplace_back(route.limits);
  redis::StoreSetup setup{
      .policy_names = {}, .algorithm_sets = algorithm_sets(config, limits), .seed = seed};
  for (const auto& policy : config.policies)
    setup.policy_names.push_back(policy.name);
  return setup;
}

}  // namespace

SharedStore::SharedStore(const config::Config& config, const Surroundings& with, std::uint64_t seed)
    : redis(with.io, config.redis, setup_of(config, seed), with.clock, counters),
      chain(redis, with.local,
            {.timeout = config.redis.timeout,
             .breaker_failures = config.redis.breaker_failures,
             .breaker_retry_after = config.redis.breaker_retry_after,
             .seed = seed}) {}

std::unique_ptr<SharedStore> make_shared_store(const config::Config& config,
                                               const SharedStore::Surroundings& with,
                                               std::uint64_t seed) {
  if (config.store_type != config::StoreType::redis) return nullptr;
  return std::make_unique<SharedStore>(config, with, seed);
}

}  // namespace weir::app
