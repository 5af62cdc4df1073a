#include "app/shared_store.hpp"

#include <algorithm>
#include <utility>

#include "app/algorithm_sets.hpp"
#include "loop/io.hpp"

namespace weir::app {
namespace {

std::vector<redis::AlgorithmSet> sets_of(const config::Config& config) {
  std::vector<std::span<const limiter::Limit>> limits;
  for (const auto& route : config.routes)
    limits.emplace_back(route.limits);
  return algorithm_sets(config, limits);
}

/// By id, which policies hold units for some limit.
std::vector<bool> holding_policies(const config::Config& config,
                                   const std::vector<std::string>& policy_names) {
  std::vector<bool> holding(policy_names.size());
  for (const auto& route : config.routes) {
    for (const limiter::Limit& limit : route.limits) {
      const limiter::Policy& policy = config.policies[limit.policy];
      if (!limiter::holds_cost(limit, policy)) continue;
      const auto name = std::ranges::find(policy_names, policy.name);
      if (name != policy_names.end())
        holding[static_cast<std::size_t>(name - policy_names.begin())] = true;
    }
  }
  return holding;
}

}  // namespace

SharedStore::SharedStore(const config::Config& config, const std::vector<std::string>& policy_names,
                         const Surroundings& with, std::uint64_t seed)
    : options(static_cast<const redis::Options&>(config.redis)),
      counters(with.counters),
      redis(with.io, options,
            {.policy_names = policy_names,
             .algorithm_sets = sets_of(config),
             .seed = seed,
             .holding_policies = holding_policies(config, policy_names)},
            with.clock, with.counters.redis),
      chain(redis, with.local,
            {.timeout = options.timeout,
             .breaker_failures = config.redis.breaker_failures,
             .breaker_retry_after = config.redis.breaker_retry_after,
             .seed = seed},
            with.counters.chain) {}

void SharedStore::extend(const config::Config& config,
                         const std::vector<std::string>& policy_names) {
  redis.extend(policy_names, sets_of(config), holding_policies(config, policy_names));
}

void SharedStore::apply(const config::RedisStore& settings) {
  chain.set_breaker(settings.breaker_failures, settings.breaker_retry_after);
}

StoreReading SharedStore::read() const {
  StoreReading reading{.is_ready = redis.is_ready(),
                       .connection_failure = redis.connection_failure(),
                       .has_decided = redis.has_decided(),
                       .is_breaker_closed = chain.breaker() == store::NodeControl::State::closed,
                       .redis_error = redis.last_error(),
                       .last_error = chain.last_error()};
  for (std::size_t kind = 0; kind < store::error_count; ++kind) {
    reading.errors[kind] = counters.redis.errors[kind].value();
    reading.undecided[kind] = counters.chain.undecided[kind].value();
    reading.error_replies[kind] = redis.last_reply(static_cast<store::Error>(kind));
  }
  return reading;
}

loop::Task<> end_settled(Stores stores, loop::Timer& timer, const MonotonicClock& clock,
                         std::function<void()> ended) {
  constexpr Duration longest = std::chrono::milliseconds(500);
  const Instant last = clock.now() + longest;
  error_code ec;
  while (std::ranges::any_of(stores, [](const auto& store) { return store->is_settling(); }) &&
         clock.now() < last) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(loop::into(ec));
  }
  for (const auto& store : stores)
    store->redis.stop();
  ended();
}

}  // namespace weir::app
