// A request whose head has been read: what inspect_head() finds in it.
//
// The views point into the head, which stays in place until the exchange has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_view.hpp"

namespace weir::http {

struct ReceivedRequest {
  RequestView view;               ///< its method is empty until the head has been parsed
  std::vector<FieldView> fields;  ///< of the view
  std::string target_storage;     ///< of the target, if it is not a part of the head
  ConnectionOptions connection;
  Framing framing;         ///< of the body
  bool is_framed = false;  ///< the framing has been found
  std::string upgrade;     ///< the protocols that the client offers, comma-separated
  /// The value of Sec-WebSocket-Key for a server of HTTP/1, made here because HTTP/2 has none;
  /// empty: that of the client, if any.
  std::string websocket_key;
  std::string_view scheme = "http";
  IpAddress peer;
  bool peer_is_trusted = false;
  IpAddress client;         ///< the peer until the head has been inspected
  bool keep_alive = false;  ///< requested by the client; false until the head has been inspected
  std::string_view id;      ///< of the request: a trusted peer's X-Request-Id, or one made here
  /// The value of a traceparent made here, which replaces that of the client; empty: none.
  std::string_view traceparent;
  bool is_grpc_call = false;     ///< found once, when the head of HTTP/2 has been inspected
  bool continues_trace = false;  ///< `traceparent` has the client's trace, so tracestate stays

  /// True also if that is unknown.
  bool has_body() const {
    if (!is_framed) return true;
    return framing.kind != Framing::Kind::none && framing != Framing{Framing::Kind::length, 0};
  }
  /// True for an extended CONNECT (RFC 8441 section 4). An upgrade of HTTP/1.1 is an offer, which
  /// may be ignored.
  bool demands_tunnel() const { return view.version_major == 2 && !upgrade.empty(); }
  /// True if a response with this status opens a tunnel for the client: to an extended CONNECT each
  /// 2xx does (RFC 8441 section 5).
  bool is_tunnel_opened_by(int status) const {
    return status >= 200 && status < 300 && demands_tunnel();
  }
  /// Prepares for the next request; keeps the memory of its strings.
  void clear();
};

/// Whether an HTTP/1 connection is kept after a response (RFC 9112 section 9.3).
struct Persistence {
  bool client_wants = false;         ///< according to its version and its Connection field
  bool draining = false;             ///< the worker or the listener stops
  bool request_will_be_read = true;  ///< to the end of its body, where the next one begins
};
bool is_persistent(const Persistence& persistence);

/// True if only the end of the connection ends the response for an HTTP/1.0 client.
bool ends_with_connection(std::uint8_t version_minor, Framing::Kind response_body);

/// True if the unread body is small enough to be read and dropped after a response, and is already
/// on its way: a client that waits for 100 does not send it.
bool is_worth_reading(const ReceivedRequest& request, std::size_t max_drain);

}  // namespace weir::http
