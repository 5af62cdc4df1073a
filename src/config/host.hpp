// Hosts and ports as they are written in addresses and URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::config {

/// A name (letters, digits, `-`, `_`, dots between) or an IPv4 address.
bool is_host_name(std::string_view text);

/// `example.com.` is the same host as `example.com`.
std::string_view without_root_dot(std::string_view name);

struct HostAndPort {
  std::string_view host;  ///< without brackets
  std::optional<std::uint16_t> port;
};

/// `name`, `name:80`, `192.0.2.1:80`, `[2001:db8::1]:80`; nothing if it is none of these.
std::optional<HostAndPort> split_host_and_port(std::string_view text);

}  // namespace weir::config
