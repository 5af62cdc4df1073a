// The signals that the program handles. They are read through signalfd(2), so no handler runs.
#pragma once

#include <csignal>

namespace weir::app {

/// Keeps SIGHUP, SIGUSR1 and SIGUSR2 pending until serve() handles them; before it they would end
/// the process. To be called before the configuration is loaded, while there is one thread.
void hold_reload_signals();

/// Blocks these, SIGTERM, SIGINT and SIGQUIT in every thread that is started from here, so that a
/// late one cannot kill a process that is ending in order. Returns the set for signalfd(2).
sigset_t block_signals();

}  // namespace weir::app
