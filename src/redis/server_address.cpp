#include "redis/server_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace weir::redis {

std::string server_text(const options::RedisServer& server) {
  const bool v6 = server.host.find(':') != std::string::npos;
  return (v6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

std::string server_text(const options::Redis& options) {
  if (options.topology == options::RedisTopology::sentinel)
    return "the master \"" + options.sentinel_master + "\"";
  if (!options.unix_path.empty()) return options.unix_path;
  return server_text(options::RedisServer{options.host, options.port});
}

bool needs_lookup(const options::Redis& options) {
  if (options.topology == options::RedisTopology::sentinel) return true;
  in6_addr address{};
  const char* const host = options.host.c_str();
  return options.unix_path.empty() && inet_pton(AF_INET, host, &address) != 1 &&
         inet_pton(AF_INET6, host, &address) != 1;
}

}  // namespace weir::redis
