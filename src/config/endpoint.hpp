// Addresses as they are written in the configuration and on the command line. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/endpoint.hpp"

namespace weir::config {

/// `127.0.0.1:8080`, `[::]:8080`, `unix:/run/weir.sock`; nothing if it is none of these.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// True if one process cannot listen on both, as far as the texts show: no name is looked up.
bool overlap(const Endpoint& one, const Endpoint& other);

}  // namespace weir::config
