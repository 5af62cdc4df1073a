// TLS to Redis, where hiredis has its ssl module (1.0 and later); elsewhere the configuration
// refuses rediss://.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "tls/context.hpp"

struct redisContext;

namespace weir::redis {

/// Certificates are read once, when it is made.
class Tls {
 public:
  /// The server's certificate must name the files' `server_name`, or else `host`.
  Tls(const tls::ClientFiles& files, std::string host);

  /// Before the first byte of a connection. A problem of the files is told here too.
  std::optional<Problem> start(redisContext& context);

  /// Why this thread's last handshake failed, which hiredis does not pass on; empty if it did not.
  static std::string take_error();

 private:
  Result<std::shared_ptr<const tls::ClientContext>> context_;
  std::string host_;
};

}  // namespace weir::redis
