// One downstream connection of HTTP/1: reads request heads, gives each request to an Exchange, and
// is kept, drained or closed after its response.
//
// A connection owns itself: start() spawns its task, which ends it. Used from its worker's loop
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/ip_address.hpp"
#include "http/refusal.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/connection_opening.hpp"
#include "proxy/exchange.hpp"
#include "proxy/failure.hpp"
#include "proxy/http1_request_body.hpp"
#include "proxy/http1_responder.hpp"

namespace weir::proxy {

/// The part of an HTTP/1 connection that exists only while it has a request. An idle connection has
/// none; the context keeps spare ones, whose buffers keep their memory.
struct Http1Exchange {
  explicit Http1Exchange(Context& context) : exchange(context) {}

  void take(ClientConnection& connection) {
    body.emplace(connection);
    responder.emplace(connection, *body);
  }
  /// Ends the use by the last request and its connection.
  void release() {
    exchange.release();
    responder.reset();
    body.reset();
  }

  Exchange exchange;
  std::optional<Http1RequestBody> body;  ///< of the connection that has the exchange
  std::optional<Http1Responder> responder;
};

class Http1Connection {
 public:
  static void start(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                    const IpAddress& peer, const ListenerOptions& options);
  /// Answers 503 to a connection beyond downstream.max_connections, and closes it.
  static void turn_away(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                        const IpAddress& peer);
  Http1Connection(Context& context, ListenerConnections& listener, loop::Descriptor socket,
                  const IpAddress& peer, bool is_refused);
  ~Http1Connection();
  Http1Connection(const Http1Connection&) = delete;
  Http1Connection& operator=(const Http1Connection&) = delete;

  /// Ends a request whose client has disconnected while the upstream's response is awaited. Nothing
  /// is read from the client in that state, so this is called once a second.
  void look_after_client();
  /// Called when the worker or the listener stops: an idle connection gets a short grace period, a
  /// busy one closes after its response.
  void drain();
  bool is_of(const ListenerConnections& listener) const { return &client_.listener == &listener; }
  void abort() { client_.watchdog.abort(); }

 private:
  static loop::Task<> guard(std::unique_ptr<Http1Connection> connection, loop::Task<> task);
  void give_up(const std::exception& thrown);
  loop::Task<> run(ListenerOptions options);
  loop::Task<> turn_away();
  loop::Task<> refuse_plain();

  void begin_exchange();
  loop::Task<Failure> read_head();
  Failure look_for_head(std::size_t& scanned);
  bool idle_timed_out() const;
  Failure why_no_head() const;
  void release_input();
  std::optional<http::Refusal> inspect_head();
  void finish();
  loop::Task<> linger();
  std::atomic<std::size_t>& count_of_kind() const;
  Context& context() const { return client_.context; }
  Exchange& exchange() { return current_->exchange; }
  Http1RequestBody& body() { return *current_->body; }
  Http1Responder& responder() { return *current_->responder; }

  ClientConnection client_;
  IpAddress peer_;
  bool peer_is_trusted_ = false;
  bool is_refused_;                 ///< it does not count towards max_connections
  std::uint8_t empty_lines_ = 0;    ///< skipped before the request
  bool has_own_upstreams_ = false;  ///< has idle upstream connections that only it may reuse
  std::uint64_t trusted_by_ = 0;    ///< the generation that peer_is_trusted_ comes from; 0: none
  std::uint64_t number_;            ///< unique in the worker
  std::size_t index_;               ///< in the worker's list
  std::size_t head_size_ = 0;       ///< 0: no whole head has arrived
  std::unique_ptr<Http1Exchange> current_;  ///< none while the connection is idle
};

}  // namespace weir::proxy
