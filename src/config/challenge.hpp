// What a 401 asks for: RFC 9110 section 15.5.2 wants a WWW-Authenticate in it. Pure.
#pragma once

#include <string>

#include "config/config.hpp"

namespace weir::config {

/// `WWW-Authenticate: Bearer` CRLF: a scheme for each way in which the identities that the route
/// requires may come. Empty if it requires none.
std::string challenge_line(const Config& config, const proxy::Route& route);

}  // namespace weir::config
