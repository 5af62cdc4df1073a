// The names in the detail of a refusal, as the configuration has them.
//
// A response names the field, parameter or cookie that it is about. A command must not print a name
// that came from a variable. Pure.
#pragma once

#include <string>

#include "config/config.hpp"

namespace weir::cli {

/// Replaces each quoted name in `detail` that came from a variable by the text in the file:
/// `a cookie may be read as "${SESSION}"`.
std::string with_names_as_written(const config::Config& config, std::string detail);

}  // namespace weir::cli
