// The running program: workers, admin server, signals, reloads, drain.
#pragma once

#include "app/source.hpp"

namespace weir::app {

/// Runs `loaded`, which came from `source`, until SIGTERM or SIGINT and returns the exit code: 0
/// after an orderly end, 1 if it could not start. SIGHUP reads `source` again.
int serve(const Source& source, const LoadedConfig& loaded);

/// Keeps SIGHUP and SIGUSR1 pending until serve() handles them; before it they would end the
/// process. To be called before the configuration is loaded, while there is one thread.
void hold_reload_signals();

}  // namespace weir::app
