// The admin endpoints over HTTP/1.1, on a thread of its own, away from the traffic.
//
// For probes, scrapes and people, not for load: connections are bounded in number, and at the
// bound the oldest is closed, so that slow clients cannot keep probes out; heads are bounded
// at 8 KiB, bodies are refused, each read or write has 5 seconds. The methods are for the owner's
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "admin/instruments.hpp"
#include "admin/options.hpp"
#include "admin/reload_report.hpp"
#include "proxy/listening_socket.hpp"

namespace weir::admin {

/// One more closes the oldest.
inline constexpr std::size_t most_connections = 64;

class AdminServer {
 public:
  explicit AdminServer(Reload reload);
  ~AdminServer();  ///< stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// Serves there, on its one socket, and no longer at the address before; nullopt: nowhere.
  /// Connections that are open stay. The first call needs show() before it.
  void serve(std::optional<proxy::BoundAddress> bound);
  /// Requests are answered from these.
  void show(std::shared_ptr<const Instruments> instruments);
  /// Closes every connection and joins the thread. May be called again.
  void stop();
  bool is_serving() const;
  /// The address that it serves, with the port that the system chose; only if is_serving().
  const Endpoint& address() const;

 private:
  class Listener;
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace weir::admin
