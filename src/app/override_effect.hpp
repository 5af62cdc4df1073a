// Whether an override can change a decision under the running configuration. Pure; thread-safe.
#pragma once

#include <string>

#include "app/override_request.hpp"

namespace weir::app {

/// Returns why the override has no effect on any route, with what to do; empty if it may have one.
/// If the key is a hash and no identity is named, only the policy is looked for.
std::string ineffective_because(const OverridePut& put, const config::Config& config);

}  // namespace weir::app
