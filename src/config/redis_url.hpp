// Parses the URL of the Redis that instances share.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::config {

/// `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss://` for TLS, or
/// `unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]`. User, password and path are percent-decoded.
/// Parts that the URL does not have keep their default. Problems never contain the URL, which may
/// have a password.
Result<options::Redis> parse_redis_url(std::string_view url);

}  // namespace weir::config
