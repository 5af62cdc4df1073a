// Parses hosts and ports in addresses and URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::config {

/// True for a name (letters, digits, `-` and `_`, separated by dots) or an IPv4 address.
bool is_host_name(std::string_view text);

/// Removes a final dot: `example.com.` is the same host as `example.com`.
std::string_view without_root_dot(std::string_view name);

struct HostAndPort {
  std::string_view host;  ///< without brackets
  std::optional<std::uint16_t> port;
};

/// Parses `name`, `name:80`, `192.0.2.1:80` or `[2001:db8::1]:80`; returns nothing for other text.
std::optional<HostAndPort> split_host_and_port(std::string_view text);

}  // namespace weir::config
