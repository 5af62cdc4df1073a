// Prints the limits of the rate limit service for people: `weir check --verbose`.
#pragma once

#include <ostream>

#include "config/config.hpp"

namespace weir::cli {

/// Prints each limit of the files and each descriptor; nothing without the service.
void print_rate_limit_service(std::ostream& out, const config::Config& config);

}  // namespace weir::cli
