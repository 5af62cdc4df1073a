// Recognises the configuration of another program. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::config {

/// Returns the only problem that such a file has for its reader: what it is, and where to start.
/// Call it for files with problems; a file with `routes` or `policies` is always one of Weir.
std::optional<Diagnostic> find_foreign_format(std::string_view text);

}  // namespace weir::config
