// The messages of the rate limit service in the JSON mapping of proto3 ("ProtoJSON Format" in the
// documents of Protocol Buffers), as Go's protojson reads and writes it.
//
// A field has its name in lowerCamelCase or its original name. An enumeration is a name or a
// number; a number is a JSON number or a string with one; `null` is an absent field. An unknown
// field is refused. Pure; thread-safe for different arguments.
#pragma once

#include <string>
#include <string_view>

#include "rls/messages.hpp"

namespace weir::rls {

/// Reads a RateLimitRequest. Returns why it is not valid, or beyond the bounds of messages.hpp, and
/// where; empty if it is valid. Then `to` has the request and owns its texts; otherwise its content
/// is unspecified. The number of a unit that Weir does not know is RateLimitUnit::unknown.
std::string read_json(std::string_view text, Request& to);

/// Appends a RateLimitResponse on one line, without defaults.
void append_json(std::string& out, const Response& response);

}  // namespace weir::rls
