// The details of an error, which clients that retry by google.rpc.RetryInfo read (google.rpc.Status
// in grpc-status-details-bin; OTLP's exporters are such clients). Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/appender.hpp"
#include "base/time.hpp"
#include "grpc/status.hpp"

namespace weir::grpc {

/// Appends the status of a call that may be tried again after a time, as bytes of Protocol Buffers.
/// `message` is UTF-8.
void append_retry_details(std::string& out, Status status, std::string_view message,
                          Duration retry_after);

/// Appends bytes as the value of a field whose name ends in "-bin": base64 without padding (RFC
/// 4648 section 4; "gRPC over HTTP2").
void append_binary(Appender& out, std::string_view bytes);

}  // namespace weir::grpc
