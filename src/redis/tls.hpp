// TLS to Redis, where hiredis has its ssl module (1.0 and later); elsewhere the configuration
// refuses rediss://.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

struct redisContext;

namespace weir::redis {

/// Certificates are read once, when it is made.
class Tls {
 public:
  /// TLS 1.2 at least; the server's certificate must name `server_name`, or else `host`.
  Tls(const config::RedisTls& settings, const std::string& host);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// Before the first byte of a connection. A problem of the settings is told here too.
  std::optional<Problem> start(redisContext& context);

  /// Why this thread's last handshake failed, which hiredis does not pass on; empty if it did not.
  static std::string take_error();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string server_name_;
  std::optional<Problem> problem_;
};

}  // namespace weir::redis
