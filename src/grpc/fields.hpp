// The fields of a gRPC call: content-type, grpc-timeout and grpc-message ("gRPC over HTTP2" in the
// documents of gRPC). Pure; thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "base/appender.hpp"
#include "base/time.hpp"

namespace weir::grpc {

/// The content type of Weir's own responses to calls.
inline constexpr std::string_view content_type = "application/grpc";

/// True for application/grpc with or without a format or parameters: application/grpc+proto. False
/// for application/grpc-web, which is another protocol.
bool is_grpc(std::string_view content_type);

/// Reads the value of grpc-timeout: at most 8 digits and a unit, `100m` is 100 ms. Nanoseconds are
/// rounded up. Empty: the value is not valid.
std::optional<Duration> parse_timeout(std::string_view text);

/// Appends a text as the value of grpc-message: bytes other than printable ASCII, and '%', are
/// percent-encoded.
void append_message(Appender& out, std::string_view text);

}  // namespace weir::grpc
