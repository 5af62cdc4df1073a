// The metrics as Prometheus reads them: docs/operations.md lists them. Counters of the workers are
// summed; routes that share a name share their series.
#pragma once

#include <string>

#include "admin/exposition.hpp"
#include "admin/instruments.hpp"
#include "admin/process_stats.hpp"

namespace weir::admin {

/// Writes the metrics of the store, in memory or shared, and of the nodes of Redis.
void write_store(Exposition& out, const Instruments& in);

std::string render_metrics(const Instruments& instruments, const ProcessStats& process);

}  // namespace weir::admin
