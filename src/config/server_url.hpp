// The URL of one server of an upstream.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::config {

/// `http://HOST[:PORT]` or `https://HOST[:PORT]` with nothing behind it but an optional `/`. The
/// problem never repeats the URL, which may hold a password.
Result<upstream::Server> parse_server_url(std::string_view url);

}  // namespace weir::config
