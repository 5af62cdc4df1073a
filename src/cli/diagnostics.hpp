// Prints the problems of a configuration file in a form that people and editors read.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "config/diagnostic.hpp"

namespace weir::cli {

/// Prints a line for each: `FILE:LINE:COLUMN: LABELmessage`; LINE and COLUMN are left out for
/// problems of the whole file.
void print_diagnostics(std::ostream& out, const std::string& file,
                       std::span<const config::Diagnostic> diagnostics,
                       std::string_view label = {});

}  // namespace weir::cli
