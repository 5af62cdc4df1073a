// The URL of the Redis that instances share.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::config {

/// `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss://` for TLS, or
/// `unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]`. User, password and path are percent-decoded.
/// What the URL does not say has its default. The problem never repeats the URL, which may hold a
/// password.
Result<redis::Options> parse_redis_url(std::string_view url);

}  // namespace weir::config
