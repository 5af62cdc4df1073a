// Names of the sources of plans for logs and commands. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "config/config.hpp"

namespace weir::config {

/// The source with that index in `plan_from`, as the configuration has it: `header x-plan`,
/// `claim plan of idp`, `file plans.tsv`.
std::string shown_plan_source(const Config& config, std::size_t index);

}  // namespace weir::config
