#include "app/shared_store.hpp"

#include <algorithm>
#include <bitset>
#include <set>
#include <utility>
#include <variant>

#include "loop/io.hpp"

namespace weir::app {
namespace {

using Sets = std::bitset<256>;  // by the set's own bits
constexpr std::size_t empty_set = 0;

bool is_always_there(const limiter::Options& config, std::size_t identity) {
  return std::holds_alternative<identity::FromClientAddress>(
      config.identities[identity].source.from);
}

bool always_applies(const limiter::Options& config, const limiter::Limit& limit) {
  if (limit.when || limit.unless) return false;
  return limit.required || is_always_there(config, limit.identity) ||
         (limit.otherwise && is_always_there(config, *limit.otherwise));
}

Sets sets_of(const limiter::Options& config, std::span<const limiter::Limit> limits) {
  Sets sets;
  sets.set(empty_set);
  for (const limiter::Limit& limit : limits) {
    const std::size_t bit = redis::set_of(config.policies[limit.policy].numbers.algorithm);
    Sets with = always_applies(config, limit) ? Sets{} : sets;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (sets[set]) with.set(set | bit);
    }
    sets = with;
  }
  return sets;
}

std::vector<redis::AlgorithmSet> script_sets(const config::Config& config) {
  std::vector<std::span<const limiter::Limit>> limits;
  for (const auto& route : config.proxy.routes)
    limits.emplace_back(route.limits);
  auto sets = algorithm_sets(config.limiter, limits);
  if (!config.rate_limit_service) return sets;
  // A request can have any descriptors, so their limits can be of any of these algorithms.
  std::size_t used = redis::set_of(config.rate_limit_service->algorithm);
  for (const options::PolicyDescriptor& descriptor : config.rate_limit_service->descriptors)
    used |= redis::set_of(config.limiter.policies[descriptor.policy].numbers.algorithm);
  for (std::size_t set = used; set != empty_set; set = (set - 1) & used) {
    const auto added = static_cast<redis::AlgorithmSet>(set);
    if (std::ranges::find(sets, added) == sets.end()) sets.push_back(added);
  }
  return sets;
}

/// Whether a request can have claims in several slots of a cluster, which are held in each
/// (store/split_requests.hpp): a limit of any route may be charged together with others, for a path
/// that can be read in several ways.
bool may_be_split(const config::Config& config) {
  if (config.redis.connection.topology != options::RedisTopology::cluster) return false;
  if (config.rate_limit_service) return true;
  std::set<std::size_t> identities;
  for (const auto& route : config.proxy.routes) {
    for (const limiter::Limit& limit : route.limits) {
      identities.insert(limit.identity);
      if (limit.otherwise) identities.insert(*limit.otherwise);
    }
  }
  return identities.size() > 1;
}

/// By id, which policies hold units for some limit, or in leases.
std::vector<bool> holding_policies(const config::Config& config,
                                   const std::vector<std::string>& policy_names) {
  std::vector<bool> holding(policy_names.size(), may_be_split(config));
  const auto mark = [&](const limiter::Policy& policy) {
    const auto name = std::ranges::find(policy_names, policy.name);
    if (name != policy_names.end())
      holding[static_cast<std::size_t>(name - policy_names.begin())] = true;
  };
  for (const auto& route : config.proxy.routes) {
    for (const limiter::Limit& limit : route.limits) {
      const limiter::Policy& policy = config.limiter.policies[limit.policy];
      if (!limiter::holds_cost(limit, policy) && !limiter::is_leasable(limit, policy)) continue;
      mark(policy);
    }
  }
  if (!config.rate_limit_service) return holding;
  // Reserve can hold units of any limit of the service, and any policy may be one of them.
  for (const limiter::Policy& policy : config.limiter.policies) {
    if (policy.lease || config.rate_limit_service->reservations) mark(policy);
  }
  return holding;
}

redis::CatalogEntries entries_of(const config::Config& config,
                                 const std::vector<std::string>& policy_names) {
  return {.policy_names = policy_names,
          .algorithm_sets = script_sets(config),
          .holding_policies = holding_policies(config, policy_names)};
}

}  // namespace

std::vector<redis::AlgorithmSet> algorithm_sets(
    const limiter::Options& config, std::span<const std::span<const limiter::Limit>> routes) {
  Sets all;
  for (const std::span<const limiter::Limit> limits : routes)
    all |= sets_of(config, limits);
  all.reset(empty_set);
  // A path that can be read in several ways is charged to the limits of several routes.
  std::size_t of_all_routes = empty_set;
  for (std::size_t set = 0; set < all.size(); ++set) {
    if (all[set]) of_all_routes |= set;
  }
  all.set(of_all_routes, of_all_routes != empty_set);
  std::vector<redis::AlgorithmSet> list;
  for (std::size_t set = 0; set < all.size(); ++set) {
    if (all[set]) list.push_back(static_cast<redis::AlgorithmSet>(set));
  }
  return list;
}

SharedStore::SharedStore(const config::Config& config, const std::vector<std::string>& policy_names,
                         const Dependencies& dependencies, std::uint64_t seed)
    : options(config.redis.connection),
      counters(dependencies.counters),
      redis(dependencies.io, options,
            {.entries = entries_of(config, policy_names),
             .breaker = {.timeout = options.timeout,
                         .failures = config.redis.breaker_failures,
                         .retry_after = config.redis.breaker_retry_after},
             .seed = seed},
            dependencies.clock, dependencies.counters.redis, dependencies.counters.nodes),
      chain(redis.store(), dependencies.local, {.timeout = options.timeout, .seed = seed},
            dependencies.counters.chain, redis.nodes().divisions()) {}

void SharedStore::extend(const config::Config& config,
                         const std::vector<std::string>& policy_names) {
  redis.extend(entries_of(config, policy_names));
}

void SharedStore::apply(const config::RedisStore& settings, std::size_t workers, Instant now) {
  redis.store().set_breaker(settings.breaker_failures, settings.breaker_retry_after);
  chain.leases().use(
      {.share = settings.lease_share, .duration = settings.lease_duration, .workers = workers},
      now);
}

StoreReading SharedStore::read() const {
  const redis::NodesStatus nodes = redis.nodes().status();
  StoreReading reading{.topology = options.topology,
                       .is_ready = nodes.is_ready,
                       .is_partial = nodes.is_partial,
                       .connection_failure = nodes.connection_failure,
                       .has_decided = nodes.has_decided,
                       .is_breaker_closed = nodes.is_breaker_closed,
                       .redis_error = nodes.last_error,
                       .part = nodes.part,
                       .last_error = nodes.last_breaker_error,
                       .masters = nodes.masters};
  for (std::size_t kind = 0; kind < store::error_count; ++kind) {
    reading.errors[kind] = counters.redis.errors[kind].value();
    reading.undecided[kind] = counters.chain.undecided[kind].value();
    reading.error_replies[kind] = redis.nodes().last_reply(static_cast<store::Error>(kind));
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
