// The running program: workers, admin server, signals, reloads, drain.
#pragma once

#include "app/source.hpp"

namespace weir::app {

/// Runs `loaded`, which came from `source`, until SIGTERM or SIGINT and returns the exit code: 0
/// after an orderly end, 1 if it could not start. SIGHUP reads `source` again.
int serve(const Source& source, const LoadedConfig& loaded);

}  // namespace weir::app
