// The servers of one upstream in one configuration, as one worker uses them: which one takes the
// next try.
//
// A reload makes a new pool. Servers that it does not change go on in it with their connections,
// their addresses, what is held against them and their health. Not thread-safe: one worker, one
// loop; the gauges are read by a scrape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "proxy/balancer.hpp"
#include "proxy/health_check.hpp"
#include "proxy/upstream_server.hpp"

namespace weir::proxy {

/// What a pool is made of.
struct UpstreamParts {
  const upstream::Upstream& settings;              ///< outlives the pool
  std::span<const std::shared_ptr<Gauge>> in_use;  ///< one a server
  std::shared_ptr<const tls::ClientContext> tls;   ///< for servers with https://
  /// Its files are those of the pool before: connections made with them stay.
  bool has_same_certificates = true;
};

class UpstreamPool {
 public:
  /// The server of a try, and its place in the configuration.
  struct Choice {
    UpstreamServer* server = nullptr;  ///< none: the checks of all fail
    std::size_t index = 0;
  };

  /// `before`: the pool of that name in the running configuration; may be none. `seed` spreads the
  /// first health checks.
  UpstreamPool(UpstreamNeeds needs, const UpstreamParts& parts, const UpstreamPool* before,
               std::uint64_t seed);

  const upstream::Upstream& settings() const { return settings_; }
  UpstreamState& state() { return *state_; }

  /// The server for the next try: one that has not been tried and is not ejected, if there is one.
  Choice choose(std::uint64_t tick, const ServerSet& tried);
  /// A server that can be chosen has not been tried.
  bool has_another(const ServerSet& tried) const { return (up() & ~tried).any(); }

  /// The generation of this number, which this pool belongs to, begins.
  void begin(std::uint64_t generation);
  /// The generation of this number begins, and this pool is of the one before: servers and checks
  /// that did not begin again keep no idle connections and check no more. Calls `removed(server)`
  /// for each of these servers that was left out.
  void retire(std::uint64_t generation, const std::function<void(const UpstreamServer&)>& removed);

  void on_tick(std::uint64_t tick);
  /// Once a second. Calls `changed(server, in_use)` for each that is left out or used again since.
  void sweep(std::uint64_t tick, const std::function<void(const UpstreamServer&, bool)>& changed);
  /// Of all its servers.
  void close_idle();
  /// A client connection has ended: closes those that only it could have used again.
  void close_idle_of(std::uint64_t client);
  /// No more checks; idle connections are closed.
  void stop();

 private:
  struct Member {
    std::shared_ptr<UpstreamServer> server;
    std::shared_ptr<HealthCheck> check;  ///< none: no active checks
  };

  ServerSet up() const;
  bool goes_on_from(const UpstreamPool& before) const;
  void add(const upstream::Server& settings, std::shared_ptr<Gauge> in_use, std::uint64_t seed,
           std::vector<Member>& before);

  UpstreamNeeds needs_;
  const upstream::Upstream& settings_;
  std::shared_ptr<UpstreamState> state_;
  Balancer balancer_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> active_;  ///< scratch: requests in progress, of each server
};

}  // namespace weir::proxy
