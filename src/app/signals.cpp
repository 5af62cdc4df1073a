#include "app/signals.hpp"

#include <pthread.h>

namespace weir::app {

void hold_reload_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGHUP);
  ::sigaddset(&signals, SIGUSR1);
  ::sigaddset(&signals, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

sigset_t block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_DFL);  // the parent may have had it ignored
    ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace weir::app
