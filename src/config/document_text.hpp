// What a configuration's bytes must be before YAML is asked.
#pragma once

#include <optional>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::config {

/// The first byte that is not printable UTF-8 text (YAML 1.2.2 section 5.1), if there is one.
/// yaml-cpp does not refuse them: it replaces bad UTF-8 and takes a byte 0x04 for the end of the
/// file.
std::optional<Diagnostic> find_bad_byte(std::string_view text);

}  // namespace weir::config
