// Reads the query of an admin call. Pure; thread-safe.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::app {

/// Returns the parameters by name, percent-decoded. A problem: a parameter is not `known`, appears
/// twice, or is malformed.
Result<std::map<std::string_view, std::string>> read_parameters(
    std::string_view query, std::span<const std::string_view> known);

}  // namespace weir::app
