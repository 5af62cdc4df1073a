// The settings that a reload changes, for its answer and the log. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace weir::app {

/// Gives `next` the running value of what cannot change while the process runs: workers,
/// store.type (and with it the other store), identity_secret. Returns the keys that differed.
std::vector<std::string> keep_fixed(config::Config& next, const config::Config& running);

/// The keys whose values differ, as the file names them: `listen`, `store.redis`,
/// `policies.per_client`, `routes.search`; `routes` if the order of the routes has changed. Both
/// as loaded. Without the keys of keep_fixed(), and without a value.
std::vector<std::string> differences(const config::Config& before, const config::Config& after);

}  // namespace weir::app
