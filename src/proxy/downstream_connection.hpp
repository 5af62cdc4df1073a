// One connection of a client, from its accept to its end: it opens the connection, and lets
// Http1Connection or Http2Connection serve it.
//
// A connection owns itself: start() spawns its task, which ends it. Used from its worker's loop
// only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "base/ip_address.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/connection_opening.hpp"
#include "proxy/http1_connection.hpp"
#include "proxy/http2_connection.hpp"

namespace weir::proxy {

class DownstreamConnection {
 public:
  static void start(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                    const IpAddress& peer, const ListenerOptions& options,
                    AddressConnections::Slot slot = {});
  /// Answers 503 to a connection beyond downstream.max_connections, and closes it.
  static void turn_away(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                        const IpAddress& peer);
  DownstreamConnection(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                       const IpAddress& peer, bool is_refused);
  ~DownstreamConnection();
  DownstreamConnection(const DownstreamConnection&) = delete;
  DownstreamConnection& operator=(const DownstreamConnection&) = delete;

  /// Ends a request whose client has disconnected while the upstream's response is awaited, and
  /// drains a connection beyond downstream.max_age. Called once a second.
  void look_after_client();
  /// Called when the worker or the listener stops: finishes what is in progress, then closes.
  void drain();
  bool is_of(const ListenerConnections& listener) const { return &client_.listener == &listener; }
  void abort();
  /// Counts the connection for its address, if it does not yet: a reload has set a bound.
  void count_for_address(const options::Proxy& next);

 private:
  static loop::Task<> guard(std::unique_ptr<DownstreamConnection> connection, loop::Task<> task);
  void drain_if_aged();
  void give_up(const std::exception& thrown);
  loop::Task<> run(ListenerOptions options);
  loop::Task<> serve_http2();
  std::atomic<std::size_t>& count_of_kind() const;

  ClientConnection client_;
  bool is_refused_;                         ///< it does not count towards max_connections
  std::size_t index_;                       ///< in the worker's list
  Http1Connection http1_;                   ///< unless http2_ is set
  std::unique_ptr<Http2Connection> http2_;  ///< while HTTP/2 is served
  bool http2_had_own_upstreams_ = false;
};

}  // namespace weir::proxy
