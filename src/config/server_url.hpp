// Parses the URL of a server of an upstream.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::config {

/// Parses `http://HOST[:PORT]` or `https://HOST[:PORT]`, followed by an optional `/` only. Problems
/// never contain the URL, which may have a password.
Result<upstream::Server> parse_server_url(std::string_view url);

}  // namespace weir::config
