// `{token: ${NAME}}` and `{path: /users/{id}}`: braces that are text, hidden from YAML.
//
// In a flow collection YAML gives `{` and `}` a meaning inside plain text too, so that these would
// be syntax errors nobody expects. Valid YAML never begins a map right behind `$` or `/`, so hiding
// them changes no file that was valid before. A byte stands for a byte: every column stays what it
// was.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

/// Replaces the braces of every `${...}` and `/{name}` that close on their line by bytes that are
/// not UTF-8. `text` must be UTF-8.
std::string mask_braces(std::string_view text);

/// Puts the braces back into what YAML made of the text. No escape of YAML yields one of those
/// bytes.
void unmask_braces(std::string& scalar);

}  // namespace weir::config
