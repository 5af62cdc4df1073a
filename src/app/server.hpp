// The running program: workers, admin server, signals, drain.
#pragma once

#include <memory>

#include "config/config.hpp"

namespace weir::app {

/// Runs until SIGTERM or SIGINT and returns the exit code: 0 after an orderly end, 1 if it could
/// not start.
int serve(const std::shared_ptr<const config::Config>& config);

}  // namespace weir::app
