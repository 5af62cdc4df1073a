// The URL of a running instance's admin server.
#pragma once

#include <string>
#include <string_view>

#include "base/endpoint.hpp"
#include "base/result.hpp"

namespace weir::cli {

/// The URL that is used without --admin.
inline constexpr std::string_view default_admin_url = "http://127.0.0.1:9090";

/// Returns how to name another admin server, if none could be reached at `url`; begins with "; ",
/// or is empty.
std::string advice_on_unreached(std::string_view url);

/// Parses `http://HOST:PORT` or `unix:/path`. A slash at the end is allowed, a path is not.
Result<Endpoint> parse_admin_url(std::string_view url);

}  // namespace weir::cli
