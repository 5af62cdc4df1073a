// Parses addresses of the configuration and the command line. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/endpoint.hpp"

namespace weir::config {

/// Parses `127.0.0.1:8080`, `[::]:8080` or `unix:/run/weir.sock`; returns nothing for other text.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// True if one process cannot listen on both, according to the texts: no name is looked up.
bool overlap(const Endpoint& one, const Endpoint& other);

}  // namespace weir::config
