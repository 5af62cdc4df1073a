// The metrics, for Prometheus and for OTLP: docs/operations.md lists them. Counters of the workers
// are summed; routes that share a name share their series.
#pragma once

#include <string>

#include "admin/instruments.hpp"
#include "admin/process_stats.hpp"
#include "telemetry/metric_sink.hpp"

namespace weir::admin {

using telemetry::MetricSink;

/// Writes the metrics of the store, in memory or shared, and of the nodes of Redis.
void write_store(MetricSink& out, const Instruments& in);

/// Writes all metrics.
void write_metrics(MetricSink& out, const Instruments& instruments, const ProcessStats& process);

/// In the Prometheus text format.
std::string render_metrics(const Instruments& instruments, const ProcessStats& process);

}  // namespace weir::admin
