// The expectation of a client that waits before it sends its body (RFC 9110 section 10.1.1).
// Used from its worker's loop only.
#pragma once

#include "http/received_request.hpp"
#include "loop/io.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

/// True if the client may wait for 100 Continue. A client of HTTP/1.0 does not.
bool expects_continue(const http::ReceivedRequest& request);
/// Sends 100 Continue.
loop::Task<error_code> send_continue(Responder& responder);

}  // namespace weir::proxy
