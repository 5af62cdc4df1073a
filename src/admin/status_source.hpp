// The status of the running process, for the status page.
#pragma once

#include "admin/instruments.hpp"
#include "admin/process_stats.hpp"
#include "base/time.hpp"
#include "status/status.hpp"

namespace weir::admin {

status::Status read_status(const Instruments& instruments, const ProcessStats& process,
                           Instant now);

}  // namespace weir::admin
