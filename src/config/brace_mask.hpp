// `{token: ${NAME}}` and `{path: /users/{id}}`: braces that are text, hidden from YAML.
//
// In a flow collection YAML gives `{` and `}` a meaning inside plain text too, so these would be
// surprising syntax errors. Valid YAML never begins a map directly after `$` or `/`, so hiding them
// changes no file that was valid before. Each byte is replaced by one byte, so that columns stay
// the same.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

/// Replaces the braces of every `${...}` and `/{name}` that close on their line by bytes that are
/// not UTF-8. `text` must be UTF-8.
std::string mask_braces(std::string_view text);

/// Restores the braces in a scalar that the YAML parser returned. No YAML escape yields one of
/// those bytes.
void unmask_braces(std::string& scalar);

}  // namespace weir::config
