// The loop that accepts connections from a listening socket into a worker.
#pragma once

#include <cstddef>

#include "loop/listening_socket.hpp"
#include "options/proxy.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/connection_opening.hpp"
#include "proxy/context.hpp"

namespace weir::proxy {

/// Connections beyond the bound that may be answered 503 at the same time.
inline constexpr std::size_t refusals_at_once = 64;

/// Accepts connections for one worker until stopped. Used from the worker's thread.
class Listener {
 public:
  Listener(Context& context, loop::Descriptor socket, ListenerOptions options);
  /// Accepts connections until stop(). Without effect if it already does.
  void start();
  /// Applies to connections accepted from now on.
  void use(ListenerOptions options) {
    options_ = std::move(options);
    connections_.serves = options_.serves;
  }
  /// Accepts the connections that are already in the kernel's queue, so that none of them is reset,
  /// then closes the socket.
  void stop();
  /// Stops and ends its connections: busy ones after the request in progress, idle ones after a
  /// short grace period.
  void remove();
  /// True if it has stopped and its connections have ended, so nothing uses it any more.
  bool has_ended() const { return !is_accepting_ && connections_.count == 0; }

 private:
  loop::Task<> accept_all();
  void accept_waiting(std::size_t most, error_code& ec);
  bool has_room();
  void welcome(loop::Descriptor socket, const IpAddress& peer);

  Context& context_;
  loop::Socket socket_;
  ListenerOptions options_;
  ListenerConnections connections_;
  bool is_accepting_ = false;
};

}  // namespace weir::proxy
