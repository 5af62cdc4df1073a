// Listening sockets, and the loop that accepts from one of them into a worker.
#pragma once

#include <cstddef>

#include <boost/asio/basic_socket_acceptor.hpp>

#include "base/result.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/connection_opening.hpp"
#include "proxy/context.hpp"
#include "proxy/settings.hpp"

namespace weir::proxy {

/// Connections beyond the bound that may be told 503 at the same time.
inline constexpr std::size_t refusals_at_once = 64;

/// A bound and listening descriptor, closed when dropped.
class ListeningSocket {
 public:
  /// Opens one socket for each of `count` workers on the same address: with SO_REUSEPORT for TCP,
  /// so that the kernel spreads connections; duplicates of one descriptor for a unix socket. An
  /// address that somebody already listens on is a problem, unless `overlaps_own`: a socket of this
  /// process, opened here, may be what overlaps. A port of 0 in `endpoint` becomes the one the
  /// system chose.
  static Result<std::vector<ListeningSocket>> open(Endpoint& endpoint, std::size_t count,
                                                   bool overlaps_own = false);

  explicit ListeningSocket(int descriptor) : descriptor_(descriptor) {}
  ListeningSocket(ListeningSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();
  int release() { return std::exchange(descriptor_, -1); }
  int native() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Accepts connections for one worker until stopped. Used from the worker's thread.
class Listener {
 public:
  Listener(Context& context, ListeningSocket socket, ListenerOptions options);
  void start();
  /// For connections accepted from now on.
  void use(ListenerOptions options) { options_ = std::move(options); }
  /// Takes what the kernel has already accepted, so that nobody who connected is reset, then
  /// closes.
  void stop();
  /// Stops, and ends its connections: after the request in progress, idle ones after a short grace.
  void remove();
  /// Nothing uses it any more: it has stopped, and its connections have ended.
  bool has_ended() const { return !is_accepting_ && connections_.count == 0; }

 private:
  using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, Executor>;
  Task<> accept_all();
  bool has_room();
  void welcome(Socket socket, const asio::generic::stream_protocol::endpoint& peer);

  Context& context_;
  Acceptor acceptor_;
  ListenerOptions options_;
  ListenerConnections connections_;
  bool is_accepting_ = false;
};

}  // namespace weir::proxy
