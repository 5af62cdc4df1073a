// The URL of a running instance's admin server.
#pragma once

#include <string_view>

#include "base/endpoint.hpp"
#include "base/result.hpp"

namespace weir::cli {

/// Parses `http://HOST:PORT` or `unix:/path`. A slash at the end is allowed, a path is not.
Result<Endpoint> parse_admin_url(std::string_view url);

}  // namespace weir::cli
