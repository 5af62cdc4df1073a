// What every route of a configuration comes to, for people.
#pragma once

#include <ostream>
#include <string>

#include "base/time.hpp"
#include "config/config.hpp"

namespace weir::cli {

void print_routes(std::ostream& out, const config::Config& config);

/// As the configuration writes it, in the largest unit that fits exactly: `90s`, `1m`, `250us`.
std::string duration_text(Duration duration);

}  // namespace weir::cli
