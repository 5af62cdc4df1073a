// The connection to the Redis that instances share. A change of any value needs a new connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "tls/material.hpp"

namespace weir::options {

/// A server in `servers`.
struct RedisServer {
  std::string host;  ///< a name or an address without brackets
  std::uint16_t port = 0;
  friend bool operator==(const RedisServer&, const RedisServer&) = default;
};

enum class RedisTopology : std::uint8_t { standalone, sentinel, cluster };

struct Redis {
  RedisTopology topology = RedisTopology::standalone;
  std::vector<RedisServer> servers{};        ///< the sentinels, or nodes of the cluster
  std::string sentinel_master = "mymaster";  ///< the name of the master
  std::string sentinel_user{};               ///< ACL user; empty: the default user
  Secret sentinel_password{};                ///< empty: no AUTH
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
  friend bool operator==(const Redis&, const Redis&) = default;
};

}  // namespace weir::options
