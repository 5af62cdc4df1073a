#include "redis/server_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/endpoint.hpp"

namespace weir::redis {

std::string server_text(const options::RedisServer& server) {
  return Endpoint{.host = server.host, .port = server.port, .unix_path = {}}.to_string();
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
