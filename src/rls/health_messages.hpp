// The messages of grpc.health.v1.Health as Protocol Buffers (gRPC's "GRPC Health Checking
// Protocol"). Pure; thread-safe for different arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::rls {

struct HealthCheckRequest {
  std::string_view service;  ///< empty: the server as a whole
};

/// HealthCheckResponse.ServingStatus.
enum class ServingStatus : std::uint8_t {
  unknown = 0,
  serving = 1,
  not_serving = 2,
  service_unknown = 3,  ///< only in answers to Watch
};

/// Reads a HealthCheckRequest. Returns why it is not valid; empty if it is, with `to` as views of
/// `message`.
std::string_view read_protobuf(std::string_view message, HealthCheckRequest& to);

/// The status of a service that a health check names; `stopping`: the process stops. Known are the
/// whole server (an empty name), the name that envoyproxy/ratelimit uses (`ratelimit`), and the
/// services of the protocols.
ServingStatus status_of(std::string_view service, bool stopping);

/// Appends a HealthCheckResponse.
void append_protobuf(std::string& out, ServingStatus status);

}  // namespace weir::rls
