// The servers of one upstream, as one worker sees them: which one takes the next try.
//
// Not thread-safe: one worker, one loop; the gauges are read by a scrape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/counters.hpp"
#include "proxy/balancer.hpp"
#include "proxy/health_check.hpp"
#include "proxy/upstream_server.hpp"

namespace weir::proxy {

class UpstreamPool {
 public:
  /// `in_use`: one gauge a server. `seed` spreads the first health checks.
  UpstreamPool(UpstreamNeeds needs, const upstream::Upstream& settings, std::span<Gauge> in_use,
               std::uint64_t seed);

  const upstream::Upstream& settings() const { return shares_.settings; }
  UpstreamShares& shares() { return shares_; }

  /// The server for the next try: one that has not been tried and is not ejected, if there is one.
  /// nullptr: the checks of all fail.
  UpstreamServer* choose(std::uint64_t tick, const ServerSet& tried);
  /// A server that can be chosen has not been tried.
  bool has_another(const ServerSet& tried) const { return (up() & ~tried).any(); }

  void on_tick(std::uint64_t tick);
  /// Once a second. Calls `changed(server, in_use)` for each that is left out or used again since.
  void sweep(std::uint64_t tick, const std::function<void(std::size_t, bool)>& changed);
  /// Why one is left out, in words for the log.
  const std::string& trouble_of(std::size_t server) const { return servers_[server]->trouble(); }
  /// Of all its servers.
  void close_idle();
  /// A client connection has ended: closes those that only it could have used again.
  void close_idle_of(std::uint64_t client);
  /// No more checks; idle connections are closed.
  void stop();

  /// For connections made from now on; those that are idle were made with the one before, and go.
  void set_tls(std::shared_ptr<const tls::ClientContext> context);

 private:
  ServerSet up() const;

  UpstreamShares shares_;
  Balancer balancer_;
  std::vector<std::unique_ptr<UpstreamServer>> servers_;
  std::vector<std::unique_ptr<HealthCheck>> checks_;  ///< none, or one a server
  std::span<Gauge> in_use_;
};

}  // namespace weir::proxy
