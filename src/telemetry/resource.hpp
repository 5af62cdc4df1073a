// The request bodies of OTLP/HTTP: the resource and the scope around spans and metrics. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::telemetry {

using ResourceAttributes = std::vector<std::pair<std::string, std::string>>;

/// The attributes of the process that sends: those of the configuration, and service.name (weir),
/// service.version and service.instance.id unless the configuration has them. Returns the JSON of a
/// Resource.
std::string resource_json(const ResourceAttributes& configured, std::string_view version,
                          std::string_view instance_id);

/// The JSON of an ExportTraceServiceRequest. `spans`: with commas between them.
std::string traces_request(std::string_view resource, std::string_view version,
                           std::string_view spans);
/// The JSON of an ExportMetricsServiceRequest. `metrics`: with commas between them.
std::string metrics_request(std::string_view resource, std::string_view version,
                            std::string_view metrics);

}  // namespace weir::telemetry
