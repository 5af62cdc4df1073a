// The status codes of gRPC, and what they are for an HTTP status ("gRPC over HTTP2" and "HTTP to
// gRPC Status Code Mapping" in the documents of gRPC). Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::grpc {

enum class Status : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

inline constexpr std::size_t status_count = 17;

/// The number of the status, as grpc-status has it.
constexpr int code_of(Status status) {
  return static_cast<int>(status);
}

/// `RESOURCE_EXHAUSTED`.
std::string_view name_of(Status status);

/// The status of a response without grpc-status, as clients find it: 401 is UNAUTHENTICATED, 503 is
/// UNAVAILABLE. A status that is not in the mapping, 200 included, is UNKNOWN.
Status status_of_http(int http_status);

/// Reads the value of grpc-status. Text that is no status of gRPC is UNKNOWN, as for clients.
Status parse_status(std::string_view text);

}  // namespace weir::grpc
