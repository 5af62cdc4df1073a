// The arguments of bench_load.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weir::bench {

enum class Mode : std::uint8_t {
  keep,    ///< keep-alive connections
  close,   ///< a connection for each request
  tunnel,  ///< small messages through upgraded connections; a message and its echo are one request
};

struct Settings {
  std::uint16_t port = 0;           ///< of the proxy
  std::uint16_t upstream_port = 0;  ///< bench_load listens on it
  std::chrono::seconds time{1};
  std::size_t connections = 64;
  std::size_t keys = 1;    ///< number of different values of X-API-Key
  std::size_t routes = 0;  ///< paths /route0/bench to /routeN/bench in turn; 0: always /bench
  std::size_t first = 0;   ///< number of the first request; selects its key and its route
  Mode mode = Mode::keep;
  std::string tokens{};  ///< a file with `keys` lines, the values for Authorization; empty: none
  bool tls = false;      ///< between the clients and the proxy
};

/// Reads NAME=VALUE arguments; throws std::runtime_error for anything else.
Settings settings_of(std::span<char* const> arguments);

}  // namespace weir::bench
