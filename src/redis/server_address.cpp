#include "redis/server_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace weir::redis {

std::string server_text(const Options& options) {
  if (!options.unix_path.empty()) return options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  return (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(options.port);
}

bool needs_lookup(const Options& options) {
  in6_addr address{};
  const char* const host = options.host.c_str();
  return options.unix_path.empty() && inet_pton(AF_INET, host, &address) != 1 &&
         inet_pton(AF_INET6, host, &address) != 1;
}

}  // namespace weir::redis
