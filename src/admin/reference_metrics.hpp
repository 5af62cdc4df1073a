// The metrics of envoyproxy/ratelimit by their names, so that its dashboards go on working: those
// of its Prometheus exporter ("Statistics" in its README, and the mapping that it ships).
#pragma once

#include "admin/instruments.hpp"
#include "telemetry/metric_sink.hpp"

namespace weir::admin {

/// Writes nothing unless rate_limit_service.reference_metrics is set. Limits with the same labels
/// are one sample: those of the configuration, and those that occurred with values of requests.
void write_reference_metrics(telemetry::MetricSink& out, const Instruments& in);

}  // namespace weir::admin
