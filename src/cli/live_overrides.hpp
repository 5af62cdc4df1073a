// The overrides of a running instance that apply to an explained request.
#pragma once

#include <optional>
#include <vector>

#include "cli/admin_call.hpp"
#include "cli/explanation.hpp"

namespace weir::cli {

/// Asks the admin server for the overrides of each identity that the explanation shows. One that
/// does not fit the configuration is left out, with a line on standard error. Empty: there is no
/// answer; the reason is on standard error, and the exit code is set.
std::optional<std::vector<KnownOverrides>> live_overrides(const AdminTarget& target,
                                                          const Explanation& explanation,
                                                          const config::Config& config, Instant now,
                                                          int& code);

}  // namespace weir::cli
