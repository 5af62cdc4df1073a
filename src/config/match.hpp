// Reads `match` of a route.
#pragma once

#include "config/table.hpp"
#include "routing/matcher.hpp"

namespace weir::config {

void read_match(const Cursor& in, routing::Match& to);
void list_match(const std::string& path, KeyPaths& out);

}  // namespace weir::config
