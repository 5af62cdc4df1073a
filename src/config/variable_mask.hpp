// `{token: ${NAME}}`: braces of a variable reference, hidden from YAML.
//
// In a flow collection YAML gives `{` and `}` a meaning inside plain text too, so that an unquoted
// reference there would be a syntax error nobody expects. A byte for a byte, so that every column
// stays what it was.
#pragma once

#include <string>
#include <string_view>

namespace weir::config {

/// Replaces the braces of every `${...}` that closes on its line by bytes that are not UTF-8.
/// `text` must be UTF-8.
std::string mask_references(std::string_view text);

/// Puts the braces back into what YAML made of the text. No escape of YAML yields one of those
/// bytes.
void unmask_references(std::string& scalar);

}  // namespace weir::config
