// The admin endpoints over HTTP/1.1, on a thread of its own, away from the traffic.
//
// Made for probes, scrapes and people, not for load: connections are bounded in number, and at the
// bound the oldest one gives way, so that slow clients can not keep probes out; heads are bounded
// at 8 KiB, bodies are refused, each read or write has 5 seconds. The methods are for the owner's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "admin/instruments.hpp"
#include "admin/options.hpp"
#include "admin/reload_report.hpp"
#include "base/result.hpp"

namespace weir::admin {

/// When one more comes, the oldest gives way.
inline constexpr std::size_t most_connections = 64;

class AdminServer {
 public:
  explicit AdminServer(Reload reload);
  ~AdminServer();  ///< stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// A bound address that is not served yet.
  class Place;

  /// Binds, or returns why the address cannot be used.
  Result<std::shared_ptr<Place>> bind(const Endpoint& address);
  /// Serves there, and no longer at the place before; nullptr: nowhere. Connections that are open
  /// stay. The first call needs show() before it.
  void serve(std::shared_ptr<Place> place);
  /// What requests are answered from.
  void show(std::shared_ptr<const Instruments> instruments);
  /// Closes every connection and joins the thread. Once is enough; more do no harm.
  void stop();
  bool is_serving() const;
  /// Where it serves, with the port that was picked; once it does.
  const Endpoint& address() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace weir::admin
