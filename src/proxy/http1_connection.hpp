// The requests of a client connection that speaks HTTP/1: reads their heads, gives each to an
// Exchange, and keeps, drains or closes the connection after the response. Used from its worker's
// loop only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "http/refusal.hpp"
#include "proxy/client_connection.hpp"
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
  /// How run() ended.
  enum class End : std::uint8_t {
    closed,
    http2,  ///< the preface of HTTP/2 is in the input
  };

  /// `client` outlives the connection.
  explicit Http1Connection(ClientConnection& client) : client_(client) {}
  Http1Connection(const Http1Connection&) = delete;
  Http1Connection& operator=(const Http1Connection&) = delete;

  /// Serves requests until the connection ends.
  loop::Task<End> run(bool may_be_http2);
  /// Answers 503 to a connection beyond downstream.max_connections.
  loop::Task<> turn_away();
  /// Answers a request in plain text where TLS is expected. Anything that is not a request is
  /// closed without an answer.
  loop::Task<> refuse_plain();

  /// Ends a request whose client has disconnected while the upstream's response is awaited. Nothing
  /// is read from the client in that state, so this is called once a second.
  void look_after_client();
  /// An idle connection gets a short grace period, a busy one closes after its response.
  void drain();
  /// Gives the buffers back; called when no request is in progress any more.
  void release();
  /// True if an upstream connection was given back that only this client may reuse.
  bool has_own_upstreams() const { return has_own_upstreams_; }

 private:
  void begin_exchange();
  loop::Task<Failure> read_head();
  Failure look_for_head(std::size_t& scanned);
  bool begins_http2() const;
  bool idle_timed_out() const;
  Failure why_no_head() const;
  void release_input();
  std::optional<http::Refusal> inspect_head();
  void finish();
  loop::Task<> linger();
  Context& context() const { return client_.context; }
  Exchange& exchange() { return current_->exchange; }
  Http1RequestBody& body() { return *current_->body; }
  Http1Responder& responder() { return *current_->responder; }

  ClientConnection& client_;
  std::uint8_t empty_lines_ = 0;    ///< skipped before the request
  bool has_served_ = false;         ///< at least one request
  bool has_own_upstreams_ = false;  ///< has idle upstream connections that only it may reuse
  std::size_t head_size_ = 0;       ///< 0: no whole head has arrived
  std::unique_ptr<Http1Exchange> current_;  ///< none while the connection is idle
};

}  // namespace weir::proxy
