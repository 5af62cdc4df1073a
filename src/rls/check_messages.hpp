// The messages of Envoy's external authorization as Protocol Buffers: envoy.service.auth.v3
// CheckRequest and CheckResponse (envoy/service/auth/v3/external_auth.proto and
// attribute_context.proto).
//
// Both functions allocate nothing once their arguments have the capacity. Pure; thread-safe for
// different arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grpc/status.hpp"
#include "http/field_section.hpp"

namespace weir::rls {

/// The most header fields of a CheckRequest.
inline constexpr std::size_t most_check_headers = 256;

/// What Envoy sends about a request. All texts are views of the message; one that Envoy has not
/// sent is empty.
struct CheckRequest {
  std::string_view source_address;  ///< of the peer: an IP address; empty also for a pipe
  std::uint32_t source_port = 0;
  std::string_view id;  ///< X-Request-ID
  std::string_view method;
  std::string_view path;  ///< with the query
  std::string_view host;
  std::string_view scheme;
  std::string_view query;     ///< in messages of Envoy always empty
  std::string_view fragment;  ///< likewise
  std::string_view protocol;  ///< `HTTP/2`
  std::int64_t size = 0;      ///< of the body in bytes; -1: unknown
  std::string_view body;      ///< UTF-8
  std::string_view raw_body;  ///< in place of `body`, if Envoy packs bodies as bytes
  /// Names are in lower case. In `headers` of the message a name is unique, and fields with the
  /// same name are joined; in `header_map` neither is so.
  std::vector<http::Field> headers;

  void clear();
};

struct CheckResponse {
  grpc::Status status = grpc::Status::ok;  ///< ok allows the request
  std::string message;                     ///< why it does not
  std::uint32_t http_status = 429;         ///< of the response to a denied request
  std::string body;                        ///< likewise
  /// For the upstream, if the request is allowed. They replace fields with the same name.
  http::FieldSection request_headers;
  /// For the client, likewise in place of fields with the same name.
  http::FieldSection response_headers;

  void clear();
};

/// Reads a CheckRequest. Returns why it is not valid, or has too many headers; empty if it is
/// valid. Then `to` has the request, with views of `message`; otherwise its content is unspecified.
std::string_view read_protobuf(std::string_view message, CheckRequest& to);

/// Appends a CheckResponse. The texts of `response` are UTF-8.
void append_protobuf(std::string& out, const CheckResponse& response);

}  // namespace weir::rls
