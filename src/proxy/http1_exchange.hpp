// The part of an HTTP/1 connection that exists only while it has a request. An idle connection has
// none; the context keeps spare ones, whose buffers keep their memory.
#pragma once

#include <optional>

#include "proxy/exchange.hpp"
#include "proxy/http1_request_body.hpp"
#include "proxy/http1_responder.hpp"

namespace weir::proxy {

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

}  // namespace weir::proxy
