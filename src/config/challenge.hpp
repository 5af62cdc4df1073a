// The WWW-Authenticate field of a 401, which RFC 9110 section 15.5.2 requires. Pure.
#pragma once

#include <string>

#include "config/config.hpp"

namespace weir::config {

/// Returns `WWW-Authenticate: Bearer` CRLF, with a scheme for each kind of source of the identities
/// that the route requires. Empty if it requires none.
std::string challenge_line(const Config& config, const proxy::Route& route);

}  // namespace weir::config
