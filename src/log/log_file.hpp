// Opens the file of a log for appending.
#pragma once

#include <string>

#include "base/result.hpp"

namespace weir::log {

/// Returns the descriptor, which the caller closes. Opening a pipe without a reader fails at once.
Result<int> open_log_file(const std::string& path);

/// Returns the problem that open_log_file() would have at present. Creates nothing, and does not
/// open a pipe, whose reader would see its end.
Result<void> check_log_file(const std::string& path);

}  // namespace weir::log
