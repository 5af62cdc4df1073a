// Reads `limits` of a route.
#pragma once

#include "config/config.hpp"
#include "config/table.hpp"

namespace weir::config {

/// Looks up references in `config`; `route` must have its match.
void read_limits(const Cursor& in, const Config& config, proxy::Route& route);
void list_limits(const std::string& path, KeyPaths& out);

}  // namespace weir::config
