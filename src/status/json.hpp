// A report as JSON, for GET /v1/status and the status page: docs/operations.md lists the members.
// Durations are seconds, rates are counts per second, instants are Unix time. Pure.
#pragma once

#include <string>

#include "json/write.hpp"
#include "status/window.hpp"

namespace weir::status {

/// Adds the members that GET /v1/reload, /v1/config and /v1/status have in common.
void add_members(json::Object& to, const ShadowReload& shadow);

/// One line, without its end.
std::string to_json(const WindowReport& window);

}  // namespace weir::status
