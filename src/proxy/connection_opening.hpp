// The start of a client connection, before its first request: the PROXY header and TLS.
//
// Nothing is allocated for a TLS connection before its first byte arrives. Used from its worker's
// loop only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ip_address.hpp"
#include "proxy/client_connection.hpp"
#include "tls/context.hpp"

namespace weir::proxy {

/// Options for the start of the connections of a listener.
struct ListenerOptions {
  bool proxy_protocol = false;
  bool http2 = true;                              ///< HTTP/2 by ALPN, or without TLS by its preface
  std::shared_ptr<const tls::ServerContext> tls;  ///< none: plain
  options::Serves serves = options::Serves::proxy;

  bool begin_with_request() const { return !proxy_protocol && !tls; }
};

class ConnectionOpening {
 public:
  enum class Outcome : std::uint8_t {
    closed,
    ready,
    plain,  ///< plain HTTP where TLS is expected, detected by the first byte
  };

  /// The peer of the connection is replaced by the source address in a PROXY header.
  explicit ConnectionOpening(ClientConnection& connection)
      : connection_(connection), watchdog_(connection.watchdog), peer_(connection.peer) {}

  /// The caller arms Phase::open, which limits the time for all of it.
  loop::Task<Outcome> run(const ListenerOptions& options);

 private:
  struct Hello {
    Outcome outcome = Outcome::closed;
    bool may_cost_much = false;  ///< the handshake needs an expensive step
  };

  bool is_over() const { return watchdog_.timed_out() || watchdog_.aborted(); }
  loop::Task<Outcome> open_tls(const std::shared_ptr<const tls::ServerContext>& tls);
  loop::Task<Hello> await_hello(const tls::ServerContext& tls);
  loop::Task<bool> read_proxy_header();
  void warn_of_peer(std::string_view what, std::string_view about);

  ClientConnection& connection_;
  Watchdog& watchdog_;
  IpAddress& peer_;
};

}  // namespace weir::proxy
