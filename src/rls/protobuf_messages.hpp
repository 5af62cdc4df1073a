// The messages of the rate limit service as Protocol Buffers: envoy.service.ratelimit.v3
// (envoy/service/ratelimit/v3/rls.proto and envoy/extensions/common/ratelimit/v3/ratelimit.proto).
//
// Both functions allocate nothing once their arguments have the capacity. Pure; thread-safe for
// different arguments.
#pragma once

#include <string>
#include <string_view>

#include "rls/messages.hpp"

namespace weir::rls {

/// Reads a RateLimitRequest. Returns why it is not valid, or beyond the bounds of messages.hpp;
/// empty if it is valid. Then `to` has the request, with views of `message`; otherwise its content
/// is unspecified. Fields that Weir does not know are ignored. A unit that it does not know is
/// RateLimitUnit::unknown.
std::string_view read_protobuf(std::string_view message, Request& to);

/// Appends a RateLimitResponse. The texts of `response` are UTF-8.
void append_protobuf(std::string& out, const Response& response);

}  // namespace weir::rls
