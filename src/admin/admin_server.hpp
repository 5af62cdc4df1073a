// The admin endpoints over HTTP/1.1, on a thread of its own, away from the traffic.
//
// Serves probes, scrapes and people, not load. The number of connections is bounded; at the bound
// the oldest one is closed, so that slow clients cannot keep probes out. Heads are bounded at 8
// KiB, bodies at 16 KiB; only PUT may have one. Each read or write has 5 seconds. Call the methods
// on the owner's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "admin/endpoints.hpp"
#include "admin/instruments.hpp"
#include "admin/latest_top_keys.hpp"
#include "loop/listening_socket.hpp"
#include "options/admin.hpp"

namespace weir::admin {

/// When one more arrives, the oldest is closed.
inline constexpr std::size_t most_connections = 64;

class AdminServer {
 public:
  /// `read_top`: for the status page.
  explicit AdminServer(std::vector<AdminEndpoint> endpoints, ReadTopKeys read_top = {});
  ~AdminServer();  ///< stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// Serves at `bound`, on its one socket, instead of the previous address; nullopt: nowhere. Open
  /// connections stay. Call show() before the first call.
  void serve(std::optional<loop::BoundAddress> bound);
  /// Sets the instruments that requests are answered from.
  void show(std::shared_ptr<const Instruments> instruments);
  /// Closes every connection and joins the thread. Further calls have no effect.
  void stop();
  bool is_serving() const;
  /// The address that it serves, with the port that was picked; only if is_serving().
  const Endpoint& address() const;

 private:
  class Listener;
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace weir::admin
