// Signals and open files of the process. The functions with a configuration
// share out the open files, and are pure.
#pragma once

#include <cstddef>
#include <string>
#include <sys/resource.h>

#include "base/result.hpp"
#include "config/config.hpp"
#include "loop/descriptor.hpp"

namespace weir::app {

/// The name of this instance for other programs: HOST:PID.
std::string instance_name();

struct DescriptorPlan {
  std::size_t set_aside;    ///< for everything that is no connection of the traffic
  std::size_t connections;  ///< of clients and to upstreams together
  std::size_t downstream;   ///< of clients: three quarters of these
};

/// The fewest that it can serve with.
std::size_t fewest_descriptors(const config::Config& config);

/// Returns a problem if the process may have only `limit` open files and needs more.
Result<void> check_descriptors(const config::Config& config, std::size_t limit);

/// How `limit` open files, at least fewest_descriptors(), are shared out.
///
/// A client that is idle needs one, one whose request is under way two. So clients get more than
/// half. Requests can count on the rest, and may also use the part that clients leave free.
DescriptorPlan plan_descriptors(const config::Config& config, std::size_t limit);

/// Raises the limit of open files as far as the system permits, and returns it.
rlim_t raise_descriptor_limit();

/// Opens /dev/null as each of the descriptors 0 to 2 that is closed. Otherwise a connection would
/// get one of these numbers, and log lines would be sent to it.
void occupy_standard_descriptors();

/// Keeps SIGHUP, SIGUSR1 and SIGUSR2 pending until serve() handles them; before it they would end
/// the process. To be called before the configuration is loaded, while there is one thread.
void hold_reload_signals();

/// Blocks these, SIGTERM, SIGINT and SIGQUIT in every thread that is started from here, so that a
/// late one cannot kill a process that is ending in order, and ignores SIGPIPE. Returns a
/// descriptor of signalfd(2) from which they are read.
Result<loop::Descriptor> open_signals();

}  // namespace weir::app
