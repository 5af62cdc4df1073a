#include "telemetry/resource.hpp"

#include <algorithm>

#include "base/appender.hpp"
#include "telemetry/attributes.hpp"

namespace weir::telemetry {
namespace {

/// The names of the messages: `resourceSpans`, `scopeSpans`, `spans`.
struct Names {
  std::string_view of_resource;
  std::string_view of_scope;
  std::string_view items;
};

std::string request(const Names& names, std::string_view resource, std::string_view version,
                    std::string_view items) {
  std::string text;
  text.reserve(items.size() + resource.size() + 256);
  text.append("{\"").append(names.of_resource).append("\":[{\"resource\":").append(resource);
  text.append(",\"")
      .append(names.of_scope)
      .append("\":[{\"scope\":{\"name\":\"weir\",\"version\":\"");
  text.append(version).append("\"},\"").append(names.items).append("\":[");
  text.append(items).append("]}]}]}");
  return text;
}

}  // namespace

std::string resource_json(const ResourceAttributes& configured, std::string_view version,
                          std::string_view instance_id) {
  std::string text;
  {
    Appender out(text);
    Attributes attributes(out.add("{\"attributes\":"));
    const auto add_default = [&](std::string_view key, std::string_view value) {
      const bool is_set =
          std::ranges::any_of(configured, [&](const auto& one) { return one.first == key; });
      if (!is_set) attributes.text(key, value);
    };
    add_default("service.name", "weir");
    add_default("service.version", version);
    add_default("service.instance.id", instance_id);
    for (const auto& [key, value] : configured)
      attributes.configured(key, value);
    attributes.end();
    out.add('}');
  }
  return text;
}

std::string traces_request(std::string_view resource, std::string_view version,
                           std::string_view spans) {
  return request({"resourceSpans", "scopeSpans", "spans"}, resource, version, spans);
}

std::string metrics_request(std::string_view resource, std::string_view version,
                            std::string_view metrics) {
  return request({"resourceMetrics", "scopeMetrics", "metrics"}, resource, version, metrics);
}

}  // namespace weir::telemetry
