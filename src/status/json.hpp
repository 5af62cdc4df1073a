// A report as JSON, for GET /v1/status and the status page: docs/operations.md lists the members.
// Durations are seconds, rates are counts per second, instants are Unix time. Pure.
#pragma once

#include <string>

#include "status/window.hpp"

namespace weir::status {

/// One line, without its end.
std::string to_json(const WindowReport& window);

}  // namespace weir::status
