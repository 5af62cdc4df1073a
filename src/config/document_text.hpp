// The text of a configuration before and after it is parsed as YAML: refuses what yaml-cpp
// misreads, and hides braces that are text. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::config {

/// The first byte that is not printable UTF-8 text (YAML 1.2.2 section 5.1), if there is one.
/// yaml-cpp does not refuse them: it replaces invalid UTF-8 and reads a byte 0x04 as the end of the
/// file.
std::optional<Diagnostic> find_bad_byte(std::string_view text);

/// Replaces the braces of every `${...}` and `/{name}` that close on their line by bytes that are
/// not UTF-8. `text` must be UTF-8.
std::string mask_braces(std::string_view text);

/// Restores the braces in a scalar that the YAML parser returned. No YAML escape yields one of
/// those bytes.
void unmask_braces(std::string& scalar);

}  // namespace weir::config
