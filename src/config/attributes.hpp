// Reads `attributes` of an attributed window.
#pragma once

#include "config/config.hpp"
#include "config/cursor.hpp"

namespace weir::config {

/// Each list item is `header:NAME`, `query:NAME`, `identity:NAME`, `claim:PROVIDER:CLAIM`,
/// `jwt:CLAIM` (of the only provider), `client_address`, `method` or `path`.
void read_attributes(const Cursor& in, Config& config, std::vector<limiter::Attribute>& to);

}  // namespace weir::config
