// TLS to Redis, with the ssl module of hiredis (1.0 and later). Without it the configuration
// rejects rediss://.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "tls/material.hpp"

struct redisContext;

namespace weir::redis {

/// Starts TLS before the first byte of a connection. Reads the files each time, so that renewed
/// ones are used. The server's certificate must have the name `server_name`, or `host` if that is
/// empty.
std::optional<Problem> start_tls(redisContext& context, const tls::ClientFiles& files,
                                 const std::string& host);

/// Returns and clears the error of this thread's last handshake, which hiredis does not pass on;
/// empty if there is none.
std::string take_tls_error();

}  // namespace weir::redis
