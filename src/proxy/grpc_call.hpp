// The properties of a request that is a gRPC call: "gRPC over HTTP2" in the documents of gRPC.
// Pure.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "http/received_request.hpp"
#include "http/request_view.hpp"
#include "options/proxy.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

/// True if the content type is that of gRPC.
bool has_grpc_content(const http::RequestView& request);

/// True for a request of HTTP/2 with the content type of gRPC. Requests of HTTP/1 are never calls.
inline bool is_grpc_call(const http::RequestView& request) {
  return request.version_major == 2 && has_grpc_content(request);
}
/// True if the request gets an answer in the terms of gRPC: not on a route with `decide`, where
/// another proxy asks and expects HTTP statuses. `route`: nullptr: none yet.
inline bool is_answered_as_call(const http::ReceivedRequest& request, const options::Route* route) {
  return request.is_grpc_call && (route == nullptr || !route->decide);
}

/// The instant by which a call wants its response: grpc-timeout after its begin. Empty: it has
/// none, or is not a call.
std::optional<Instant> deadline_of(const http::ReceivedRequest& request, Instant begin);
/// True for a call whose deadline has passed.
bool is_late(const http::ReceivedRequest& request, Instant begin, Instant now);

/// The number of Responder::grpc_status().
std::optional<int> grpc_status_of(const Responder& responder);

}  // namespace weir::proxy
