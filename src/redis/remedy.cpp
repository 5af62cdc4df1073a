#include "redis/remedy.hpp"

#include <algorithm>

namespace weir::redis {
namespace {

constexpr std::string_view permissions_remedy =
    "grant the user of store.redis.url all permissions listed in docs/redis.md";

/// Error replies of Redis begin with a code in capital letters, such as `ERR`. The texts of Weir
/// and hiredis about other replies do not, and those of proxies in front of Redis rarely.
bool has_error_code(std::string_view reply) {
  const std::string_view code = reply.substr(0, reply.find(' '));
  return !code.empty() && std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::string_view remedy(store::Error error, std::string_view reply) {
  using store::Error;
  switch (error) {
    case Error::none:
    case Error::not_connected:
    case Error::timeout:
    case Error::connection_lost:
    case Error::overloaded:
      return {};
    case Error::loading:
      if (reply.starts_with("CLUSTERDOWN"))
        return "slots have no master: a replica may be taking over; else see redis-cli --cluster "
               "check";
      return "Redis is loading, busy or failing over; no action needed";
    case Error::read_only:
      return "the server is a replica; set store.redis.url to the primary";
    case Error::out_of_memory:
      return "raise maxmemory, or set a maxmemory-policy that evicts keys";
    case Error::refused:
      return permissions_remedy;
    case Error::redirected:
      return "the server is a node of a Redis Cluster; write topology: cluster in store.redis";
    case Error::script_missing:
    case Error::other:
      break;
  }
  if (!has_error_code(reply))
    return "the server of store.redis.url is not Redis, or a proxy changes its replies";
  return "the server must have every command listed in docs/redis.md, under its own name";
}

std::string_view refusal_remedy(std::string_view error) {
  const bool is_permission = error.find("NOPERM") != std::string_view::npos;
  return is_permission ? permissions_remedy : "check the user and the password in store.redis.url";
}

std::string_view handshake_remedy(bool is_secure) {
  if (is_secure)
    return "the server accepts connections: check that it is Redis, is not blocked, and uses TLS";
  return "the server accepts connections: check that it is Redis, is not blocked, and does not "
         "require TLS";
}

}  // namespace weir::redis
