// The failures that end a request: which side is at fault, and the response. A head that is well
// formed and not acceptable is an http::Refusal; a denial is a
// limiter::Verdict.
#pragma once

#include <cstdint>

#include "http/head_parser.hpp"
#include "http/refusal.hpp"

namespace weir::proxy {

enum class Failure : std::uint8_t {
  none,
  // the client's
  head_malformed,   ///< not HTTP/1.1 according to RFC 9112
  head_too_large,   ///< request line and fields beyond downstream.max_head
  target_too_long,  ///< request target beyond downstream.max_target
  method_too_long,  ///< the method alone is beyond downstream.max_head
  head_timed_out,   ///< the head did not arrive within downstream.head_timeout
  body_too_large,   ///< beyond downstream.max_body
  body_malformed,   ///< chunked coding broken
  body_timed_out,   ///< no progress for downstream.body_timeout
  plain_on_tls,     ///< a request in plain text where TLS is expected
  downstream_gone,  ///< the client has closed its connection; no response is possible
  deadline_passed,  ///< a gRPC call has not ended within its grpc-timeout
  // the upstream's
  upstream_unreachable,      ///< refused, reset while connecting, name not found
  upstream_connect_timeout,  ///< not connected within connect_timeout
  upstream_broken,           ///< closed or reset before its answer was whole
  upstream_refused,          ///< HTTP/2: it did not process the request (REFUSED_STREAM)
  upstream_reset,            ///< HTTP/2: it reset the stream with another code
  upstream_goaway,           ///< HTTP/2: it ended the connection by a GOAWAY
  upstream_invalid,          ///< its answer is not valid HTTP
  upstream_timed_out,        ///< no answer within response_timeout, or its body stalled
  upstream_unhealthy,        ///< the checks of all its servers fail
  // ours
  tunnel_unsupported,  ///< an extended CONNECT for a server of HTTP/2
  overloaded,          ///< beyond downstream.max_connections, or no descriptor left for another one
};

Failure failure_of(http::HeadFault fault);

bool is_of_upstream(Failure failure);
/// True if the upstream, which was reached, ended the response before it was complete.
bool is_cut(Failure failure);

/// Returns the status and the text for the client, which reveals nothing internal. Status 0: close
/// without a response. `http2_error`: the error code that upstream_reset and upstream_goaway state.
http::Refusal answer_to(Failure failure, std::uint32_t http2_error = 0);

}  // namespace weir::proxy
