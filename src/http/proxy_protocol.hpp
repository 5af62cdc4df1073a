// The PROXY protocol, versions 1 and 2: a proxy that forwards bytes sends the address of its client
// in a header (haproxy.org, proxy-protocol.txt). Parsed strictly: anything that is not exactly such
// a header is malformed.
//
// Pure; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ip_address.hpp"

namespace weir::http {

/// The longest header accepted; version 2 allows 64 KiB, which no proxy sends.
inline constexpr std::size_t longest_proxy_header = 4096;

struct ProxyHeader {
  enum class State : std::uint8_t {
    incomplete,  ///< a valid prefix of a header
    complete,
    malformed,
  };
  State state = State::incomplete;
  std::size_t size = 0;  ///< when complete: the connection's own bytes begin here
  /// The client. Empty for LOCAL, UNKNOWN and families that are not IP: the peer is the client
  /// then.
  std::optional<IpAddress> source;
};

/// `data` is everything that has arrived; bytes after the header are ignored.
ProxyHeader parse_proxy_header(std::string_view data);

}  // namespace weir::http
