// The address of the configured Redis.
#pragma once

#include <string>

#include "options/redis.hpp"

namespace weir::redis {

/// `redis.example:6379`, `[::1]:6379`.
std::string server_text(const options::RedisServer& server);

/// Returns the address of the server for error texts: `redis.example:6379`, `[::1]:6379` or the
/// path of a unix socket. With sentinels, before they have returned an address: `the master
/// "NAME"`.
std::string server_text(const options::Redis& options);

/// Returns whether the address has to be looked up, in DNS or by sentinels. The resolver also reads
/// addresses with a zone.
bool needs_lookup(const options::Redis& options);

}  // namespace weir::redis
