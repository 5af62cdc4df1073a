// Parses hosts, ports and addresses of the configuration and the command line. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/endpoint.hpp"

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

/// Parses `127.0.0.1:8080`, `[::]:8080` or `unix:/run/weir.sock`; returns nothing for other text.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// True if one process cannot listen on both, according to the texts: no name is looked up.
bool overlap(const Endpoint& one, const Endpoint& other);

}  // namespace weir::config
