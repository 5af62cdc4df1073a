// Makes key paths in the form of diagnostics: `routes[0].limits[1].policy`, on one line even if a
// key has a line break.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::config {

std::string key_path(const std::string& parent, std::string_view key);
std::string item_path(const std::string& parent, std::size_t index);

/// Returns the path with [] for every index and * for every name that the operator chose:
/// `policies.*.rate` of policies.per_client.rate, `routes[].limits` of routes[3].limits.
std::string shape_of(std::string_view path);

bool is_printable_ascii(std::string_view text);

}  // namespace weir::config
