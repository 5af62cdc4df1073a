// The PROXY protocol, versions 1 and 2: what a proxy that passes on bytes says about the client it
// speaks for (haproxy.org, proxy-protocol.txt). Read strictly: what is not exactly such a header is
// malformed.
//
// Pure; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "identity/ip_address.hpp"

namespace weir::proxy {

/// Longest header that is read; version 2 could say 64 KiB, and nobody does.
inline constexpr std::size_t longest_proxy_header = 4096;

struct ProxyHeader {
  enum class State : std::uint8_t {
    incomplete,  ///< so far it may become one
    complete,
    malformed,
  };
  State state = State::incomplete;
  std::size_t size = 0;  ///< when complete: the connection's own bytes begin here
  /// The client. None for LOCAL, UNKNOWN and families that are no IP addresses: the peer speaks for
  /// itself.
  std::optional<identity::IpAddress> source;
};

/// `data` is everything that has arrived; what follows the header is not looked at.
ProxyHeader parse_proxy_header(std::string_view data);

}  // namespace weir::proxy
