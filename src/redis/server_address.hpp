// The address of the server in the options. Pure; thread-safe.
#pragma once

#include <string>

#include "redis/options.hpp"

namespace weir::redis {

/// For error texts: `redis.example:6379`, `[::1]:6379` or the path of a unix socket.
std::string server_text(const Options& options);

/// Whether the host has to be looked up. The resolver also reads addresses with a zone.
bool needs_lookup(const Options& options);

}  // namespace weir::redis
