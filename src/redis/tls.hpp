// TLS to Redis, where hiredis has its ssl module (1.0 and later); elsewhere the configuration
// refuses rediss://.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "tls/material.hpp"

struct redisContext;

namespace weir::redis {

/// Before the first byte of a connection. The files are read each time, so that renewed ones are
/// used; the server's certificate must name their `server_name`, or else `host`.
std::optional<Problem> start_tls(redisContext& context, const tls::ClientFiles& files,
                                 const std::string& host);

/// Why this thread's last handshake failed, which hiredis does not pass on; empty if it did not.
std::string take_tls_error();

}  // namespace weir::redis
