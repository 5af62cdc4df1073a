// Checks the bytes of a configuration before they are parsed as YAML.
#pragma once

#include <optional>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::config {

/// The first byte that is not printable UTF-8 text (YAML 1.2.2 section 5.1), if there is one.
/// yaml-cpp does not refuse them: it replaces invalid UTF-8 and reads a byte 0x04 as the end of the
/// file.
std::optional<Diagnostic> find_bad_byte(std::string_view text);

}  // namespace weir::config
