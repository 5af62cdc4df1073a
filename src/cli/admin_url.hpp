// The URL under which a command reaches a running instance's admin server.
#pragma once

#include <string_view>

#include "base/endpoint.hpp"
#include "base/result.hpp"

namespace weir::cli {

/// `http://HOST:PORT` or `unix:/path`; a slash at the end is allowed, a path is not.
Result<Endpoint> parse_admin_url(std::string_view url);

}  // namespace weir::cli
