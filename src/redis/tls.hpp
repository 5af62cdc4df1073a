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

/// Returns and clears the reason of this thread's last error of TLS, which hiredis does not pass
/// on; nullptr if there is none. Lives as long as the process.
const char* take_tls_error() noexcept;

}  // namespace weir::redis
