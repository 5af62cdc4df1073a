// Writes values into a configuration. Pure.
#pragma once

#include <string>
#include <string_view>

namespace weir::cli {

/// Returns a JSON string, which is a YAML string (YAML 1.2, section 1.3). The loader reads exactly
/// this text: no part of it is a variable.
std::string yaml_text(std::string_view text);

}  // namespace weir::cli
