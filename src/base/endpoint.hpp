// The address at which a socket listens or connects.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

/// host:port, [v6]:port or unix:/path.
struct Endpoint {
  std::string host;        ///< without brackets; empty for a unix socket
  std::uint16_t port = 0;  ///< 0 picks a free one
  std::string unix_path;
  bool is_unix() const { return !unix_path.empty(); }
  std::string to_string() const {
    if (is_unix()) return "unix:" + unix_path;
    std::string text = host;
    if (host.find(':') != std::string::npos) text.insert(0, 1, '[').push_back(']');
    return text.append(":").append(std::to_string(port));
  }
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

}  // namespace weir
