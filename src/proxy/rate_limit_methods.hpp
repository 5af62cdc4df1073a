// The methods of the rate limit service, by path, and which requests are for it.
#pragma once

#include <string_view>

#include "http/received_request.hpp"
#include "identity/client_address.hpp"
#include "options/proxy.hpp"

namespace weir::proxy {

inline constexpr std::string_view should_rate_limit =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline constexpr std::string_view kuadrant_check =
    "/kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit";
inline constexpr std::string_view kuadrant_report =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Report";
inline constexpr std::string_view kuadrant_reserve =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Reserve";
inline constexpr std::string_view kuadrant_commit =
    "/kuadrant.service.ratelimit.v1.RateLimitService/Commit";
inline constexpr std::string_view health_check = "/grpc.health.v1.Health/Check";
inline constexpr std::string_view health_watch = "/grpc.health.v1.Health/Watch";
inline constexpr std::string_view json_path = "/json";
inline constexpr std::string_view health_path = "/healthcheck";

/// True if a request that arrives on such a listener is for the service. On one that also serves
/// clients only a trusted proxy can use it, and not for a client that it forwards: others could
/// give hits back, or use up those of others.
bool is_for_service(options::Serves serves, const identity::ClientAddressOptions& addresses,
                    const http::ReceivedRequest& request);

}  // namespace weir::proxy
