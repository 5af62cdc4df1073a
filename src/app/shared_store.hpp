// The store that a worker shares with other instances: Redis and the chain before it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/store_monitor.hpp"
#include "base/clock.hpp"
#include "config/config.hpp"
#include "loop/io.hpp"
#include "loop/task.hpp"
#include "redis/store.hpp"
#include "store/chain.hpp"

namespace weir::app {

/// A reload keeps it if `options` are the same.
struct SharedStore {
  /// Count for all shared stores of a worker, one after the other.
  struct Counters {
    redis::StoreCounters redis;
    store::ChainCounters chain;
  };
  /// Must outlive the store.
  struct Surroundings {
    boost::asio::io_context& io;  ///< the worker's
    const MonotonicClock& clock;
    store::MemoryStore& local;  ///< decides claims with on_failure: local
    Counters& counters;
  };

  /// `policy_names`: by id, of all policies since the start. `seed`: random in production.
  SharedStore(const config::Config& config, const std::vector<std::string>& policy_names,
              const Surroundings& with, std::uint64_t seed);

  /// Prepares for a configuration with the same options: its policies and scripts.
  void extend(const config::Config& config, const std::vector<std::string>& policy_names);

  /// Applies the settings that need no other connection.
  void apply(const config::RedisStore& settings);

  /// True while Redis can be reached and has not replied to all settlements of ended requests.
  bool is_settling() const { return redis.is_ready() && redis.is_settling(); }

  /// The state for StoreMonitor. Its texts are valid until the loop runs again.
  StoreReading read() const;

  const redis::Options options;
  const Counters& counters;
  redis::Store redis;
  store::Chain chain;
};

using Stores = std::vector<std::shared_ptr<SharedStore>>;

/// The last requests have just been settled: ends the stores after Redis has replied, then calls
/// `ended`. What Redis does not reply to in time ends with its lease.
loop::Task<> end_settled(Stores stores, loop::Timer& timer, const MonotonicClock& clock,
                         std::function<void()> ended);

}  // namespace weir::app
