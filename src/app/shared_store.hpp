// The store that a worker shares with other instances: Redis and the chain before it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/store_monitor.hpp"
#include "base/clock.hpp"
#include "config/config.hpp"
#include "loop/io.hpp"
#include "loop/task.hpp"
#include "redis/script.hpp"
#include "redis/topology.hpp"
#include "store/chain.hpp"

namespace weir::app {

/// A reload keeps it if `options` are the same.
struct SharedStore {
  /// Count for all shared stores of a worker, one after the other.
  struct Counters {
    redis::StoreCounters redis;
    redis::NodeCountersList nodes;
    store::ChainCounters chain;
  };
  /// They outlive the store.
  struct Dependencies {
    boost::asio::io_context& io;  ///< the worker's
    const MonotonicClock& clock;
    store::MemoryStore& local;  ///< decides claims with on_failure: local
    Counters& counters;
  };

  /// `policy_names`: by id, of all policies since the start. `seed`: random in production.
  SharedStore(const config::Config& config, const std::vector<std::string>& policy_names,
              const Dependencies& dependencies, std::uint64_t seed);

  /// Prepares for the policies and scripts of another configuration.
  void extend(const config::Config& config, const std::vector<std::string>& policy_names);

  /// Applies the settings that need no other connection.
  /// `workers` of this instance: each may hold an equal part of its share.
  void apply(const config::RedisStore& settings, std::size_t workers, Instant now);
  /// Gives all leases back, and takes no more.
  void end_leases(Instant now) { chain.leases().use({}, now); }

  /// True while Redis can be reached and has not replied to all settlements of ended requests and
  /// leases.
  bool is_settling() const { return redis.nodes().is_settling() || chain.leases().is_asking(); }

  /// The state for StoreMonitor. Its texts are valid until the loop runs again.
  StoreReading read() const;

  const options::Redis options;
  const Counters& counters;
  redis::Topology redis;
  store::Chain chain;
};

/// Which algorithms the claims of one request can have together: Redis keeps a script ready for
/// each such set. `routes`: the limits of each. Every set that some request can come to, once. A
/// limit whose identity may be absent is in one set and not in another. The last one has all
/// algorithms, for a request that is charged to the limits of several routes.
std::vector<redis::AlgorithmSet> algorithm_sets(
    const limiter::Options& config, std::span<const std::span<const limiter::Limit>> routes);

using Stores = std::vector<std::shared_ptr<SharedStore>>;

/// The last requests have just been settled: ends the stores after Redis has replied, then calls
/// `ended`. What Redis does not reply to in time ends with its lease.
loop::Task<> end_settled(Stores stores, loop::Timer& timer, const MonotonicClock& clock,
                         std::function<void()> ended);

}  // namespace weir::app
