// What a configuration comes to, for people: the store, and every route.
#pragma once

#include <ostream>
#include <string>

#include "base/time.hpp"
#include "config/config.hpp"

namespace weir::cli {

/// Where use is counted; without secrets.
void print_store(std::ostream& out, const config::Config& config);
void print_routes(std::ostream& out, const config::Config& config);

/// As the configuration writes it, in the largest unit that fits exactly: `90s`, `1m`, `250us`.
std::string duration_text(Duration duration);

}  // namespace weir::cli
