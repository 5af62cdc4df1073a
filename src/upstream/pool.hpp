// The servers of one upstream in one configuration, as used by one worker. Selects the server of
// the next try.
//
// A reload creates a new pool. Servers that it does not change are carried over with their
// connections, addresses, ejection state and health. Not thread-safe: one worker, one loop; a
// metrics scrape reads the gauges.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "upstream/balancer.hpp"
#include "upstream/health_check.hpp"
#include "upstream/pooled_server.hpp"

namespace weir::upstream {

struct PoolDependencies {
  ServerDependencies servers;
  const options::Upstream& settings;               ///< outlives the pool
  std::span<const std::shared_ptr<Gauge>> in_use;  ///< one per server
  std::shared_ptr<const tls::ClientContext> tls;   ///< for servers with https://
  /// True if the files are those of the previous pool, so that connections made with them are kept.
  bool has_same_certificates = true;
};

class Pool {
 public:
  /// The server of a try, and its place in the configuration.
  struct Choice {
    PooledServer* server = nullptr;  ///< none: the checks of all fail
    std::size_t index = 0;
  };

  /// `before`: the pool of that name in the running configuration, or nullptr. `seed` spreads the
  /// first health checks.
  Pool(PoolDependencies with, const Pool* before, std::uint64_t seed);

  const options::Upstream& settings() const { return settings_; }
  PoolState& state() { return *state_; }

  /// Returns the server for the next try: preferably one that has not been tried and is not
  /// ejected.
  Choice choose(std::uint64_t tick, const ServerSet& tried);
  /// True if a server that can be chosen has not been tried.
  bool has_another(const ServerSet& tried) const { return (up() & ~tried).any(); }

  /// Called when the generation of this number begins, to which this pool belongs.
  void begin(std::uint64_t generation);
  /// Called when the generation of this number begins and this pool belongs to the previous one.
  /// Servers that were not carried over close their idle connections and stop their checks. Calls
  /// `removed(server)` for each of these servers that was marked down.
  void retire(std::uint64_t generation, const std::function<void(const PooledServer&)>& removed);

  void on_tick(std::uint64_t tick);
  /// Called once a second. Calls `changed(server, in_use)` for each server marked down or up since.
  void sweep(std::uint64_t tick, const std::function<void(const PooledServer&, bool)>& changed);
  /// Closes the idle connections of all its servers.
  void close_idle();
  /// Called when a client connection has ended: closes the connections that only it could have
  /// reused.
  void close_idle_of(std::uint64_t client);
  /// Stops the checks and closes idle connections.
  void stop();

 private:
  struct Member {
    std::shared_ptr<PooledServer> server;
    std::shared_ptr<HealthCheck> check;  ///< none: no active checks
  };

  ServerSet up() const;
  bool goes_on_from(const Pool& before) const;
  void add(const options::Server& settings, std::shared_ptr<Gauge> in_use, std::uint64_t seed,
           std::vector<Member>& before);

  ServerDependencies dependencies_;
  const options::Upstream& settings_;
  std::shared_ptr<PoolState> state_;
  Balancer balancer_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> active_;  ///< scratch: requests in progress at each server
};

}  // namespace weir::upstream
