#include "redis/remedy.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "redis/error_reply.hpp"

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

/// The server is a replica.
std::string_view replica_remedy(options::RedisTopology topology) {
  using options::RedisTopology;
  if (topology == RedisTopology::cluster)  // a replica of a cluster returns MOVED
    return "the server is a replica without cluster support; list nodes of a cluster in "
           "store.redis.servers, or write the topology of this Redis";
  if (topology == RedisTopology::sentinel)
    return "the server is no longer the master; the sentinels return the new one after the "
           "failover";
  return "the server is a replica; set store.redis.url to the primary";
}

std::string_view stranger_remedy(options::RedisTopology topology) {
  using options::RedisTopology;
  if (topology == RedisTopology::cluster)
    return "the server is not Redis, or a proxy changes its replies; check store.redis.servers, "
           "and the addresses that the nodes announce";
  if (topology == RedisTopology::sentinel)
    return "the server is not Redis, or a proxy changes its replies; check the address that the "
           "sentinels return";
  return "the server of store.redis.url is not Redis, or a proxy changes its replies";
}

}  // namespace

std::string_view remedy(store::Error error, std::string_view reply,
                        options::RedisTopology topology) {
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
      return replica_remedy(topology);
    case Error::out_of_memory:
      return "raise maxmemory, or set a maxmemory-policy that evicts keys";
    case Error::refused:
      return permissions_remedy;
    case Error::redirected:
      if (topology == options::RedisTopology::cluster)
        return "slots are moving, or the nodes report different masters; see redis-cli --cluster "
               "check";
      return "the server is a node of a Redis Cluster; write topology: cluster in store.redis";
    case Error::script_missing:
    case Error::other:
      break;
  }
  if (!has_error_code(reply)) return stranger_remedy(topology);
  return "the server must have every command listed in docs/redis.md, under its own name";
}

std::string_view refusal_remedy(std::string_view error) {
  const bool is_permission = error.find("NOPERM") != std::string_view::npos;
  return is_permission ? permissions_remedy : "check the user and the password in store.redis.url";
}

std::string_view handshake_remedy(HandshakeEnd end, bool is_secure) {
  if (end == HandshakeEnd::closed && is_secure)
    return "the connection was accepted and then closed: Redis may be stopping; if this lasts, "
           "check that the server is Redis, and uses TLS";
  if (end == HandshakeEnd::closed)
    return "the connection was accepted and then closed: Redis may be stopping; if this lasts, "
           "check that the server is Redis, and does not require TLS";
  if (is_secure)
    return "the server accepts connections: check that it is Redis, is not blocked, and uses TLS";
  return "the server accepts connections: check that it is Redis, is not blocked, and does not "
         "require TLS";
}

std::string_view connect_remedy(std::string_view why) {
  static const std::string refused = std::generic_category().message(ECONNREFUSED);
  if (why == refused) return "check that Redis is running at this address";
  return {};
}

std::string_view slots_remedy(std::string_view reply) {
  const bool is_alone = reply.find("cluster support disabled") != std::string_view::npos ||
                        reply.starts_with("ERR unknown command");
  if (is_alone)
    return "write topology: standalone in store.redis, or list nodes of a cluster in "
           "store.redis.servers";
  return error_of(reply) == store::Error::refused ? permissions_remedy : std::string_view();
}

}  // namespace weir::redis
