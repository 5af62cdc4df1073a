// The connection to the Redis that instances share. A change of any value needs a new connection.
#pragma once

#include <cstdint>
#include <string>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "tls/material.hpp"

namespace weir::redis {

struct Options {
  std::string host;  ///< a name or an address without brackets; empty for a unix socket
  std::uint16_t port = 6379;
  std::string unix_path;
  std::string user;  ///< ACL user; empty: the default user
  Secret password;   ///< empty: no AUTH
  int database = 0;
  bool secure = false;  ///< rediss://
  tls::ClientFiles tls;
  std::string key_prefix = "weir:";
  Duration connect_timeout = std::chrono::milliseconds(500);  ///< of an attempt, until ready
  Duration timeout = std::chrono::milliseconds(20);           ///< one decision, queueing included
  friend bool operator==(const Options&, const Options&) = default;
};

}  // namespace weir::redis
