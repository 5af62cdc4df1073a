// Problems of a configuration file, as people and editors read them.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::cli {

/// A line each: `FILE:LINE:COLUMN: LABELmessage`; LINE and COLUMN are left out where there are
/// none.
void print_diagnostics(std::ostream& out, const std::string& file,
                       std::span<const config::Diagnostic> diagnostics,
                       std::string_view label = {});

}  // namespace weir::cli
