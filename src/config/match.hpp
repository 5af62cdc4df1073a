// Reads `match` of a route, and the conditions that limits share with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/table.hpp"
#include "routing/matcher.hpp"

namespace weir::config {

/// Looks up the address list in `config`.
void read_match(const Cursor& in, const Config& config, routing::Match& to);
void list_match(const std::string& path, KeyPaths& out);

void read_methods(const Cursor& in, std::vector<std::string>& to);
/// Reads the name of an address list.
void read_address(const Cursor& in, const Config& config, std::optional<AddressList>& to);

}  // namespace weir::config
