#include "grpc/status.hpp"

#include <array>

namespace weir::grpc {
namespace {

constexpr std::array<std::string_view, status_count> names{
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

}  // namespace

std::string_view name_of(Status status) {
  return names[static_cast<std::size_t>(status)];
}

Status status_of_http(int http_status) {
  switch (http_status) {
    case 400:
      return Status::internal;
    case 401:
      return Status::unauthenticated;
    case 403:
      return Status::permission_denied;
    case 404:
      return Status::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Status::unavailable;
    default:
      return Status::unknown;
  }
}

Status parse_status(std::string_view text) {
  std::size_t code = text.empty() ? status_count : 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || code >= status_count) return Status::unknown;
    code = code * 10 + static_cast<std::size_t>(c - '0');
  }
  return code < status_count ? static_cast<Status>(code) : Status::unknown;
}

}  // namespace weir::grpc
