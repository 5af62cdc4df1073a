// A value that a command reads from standard input.
#pragma once

#include <istream>
#include <string>

#include "base/result.hpp"

namespace weir::cli {

/// Reads the only line of the input. A problem: it has none, or more than one. At a
/// terminal nothing is read after the line, because that would wait for it.
Result<std::string> read_one_line(std::istream& input, bool is_terminal);

}  // namespace weir::cli
