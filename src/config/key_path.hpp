// Key paths as diagnostics print them: `routes[0].limits[1].policy`, on one line whatever the keys
// are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::config {

std::string key_path(const std::string& parent, std::string_view key);
std::string item_path(const std::string& parent, std::size_t index);

bool is_printable_ascii(std::string_view text);

}  // namespace weir::config
