// The metrics of envoyproxy/ratelimit by their names, so that its dashboards go on working: those
// of its Prometheus exporter ("Statistics" in its README, and the mapping that it ships).
#pragma once

#include <string>

#include "admin/instruments.hpp"
#include "telemetry/metric_sink.hpp"

namespace weir::admin {

/// The labels of a limit.
struct ReferenceLabels {
  std::string domain, key1, key2;
  friend auto operator<=>(const ReferenceLabels&, const ReferenceLabels&) = default;
};

/// Returns the labels of a limit with this name, `DOMAIN.KEY_VALUE.KEY_VALUE`. The exporter splits
/// names at every dot, also those in values, and leaves out all parts after the third one; before
/// that `:`, `|` and the dots of IPv4 addresses become `_` (src/utils/utilities.go and
/// src/stats/prom/default_mapper.yaml there).
ReferenceLabels reference_labels(std::string name);

/// Writes nothing unless rate_limit_service.reference_metrics is set. Limits with the same labels
/// are one sample. Limits with detailed_metric or value_to_metric are counted under their keys,
/// without the values of requests.
void write_reference_metrics(telemetry::MetricSink& out, const Instruments& in);

}  // namespace weir::admin
