// The store that a worker shares with other instances: Redis and the chain before it, built from
// the configuration.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "config/config.hpp"
#include "redis/store.hpp"
#include "store/chain.hpp"

namespace weir::app {

struct SharedStore {
  redis::StoreCounters counters;
  redis::Store redis;
  store::Chain chain;

  /// Used by it, and outlives it.
  struct Surroundings {
    boost::asio::io_context& io;  ///< the worker's
    const MonotonicClock& clock;
    store::MemoryStore& local;  ///< of the shares that on_failure grants
  };
  /// `seed`: random in production.
  SharedStore(const config::Config& config, const Surroundings& with, std::uint64_t seed);
};

/// nullptr: the memory store decides.
std::unique_ptr<SharedStore> make_shared_store(const config::Config& config,
                                               const SharedStore::Surroundings& with,
                                               std::uint64_t seed);

}  // namespace weir::app
