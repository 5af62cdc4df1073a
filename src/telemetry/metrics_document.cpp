#include "telemetry/metrics_document.hpp"

#include <utility>

#include "base/appender.hpp"
#include "json/write.hpp"
#include "telemetry/attributes.hpp"

namespace weir::telemetry {
namespace {

constexpr std::string_view cumulative = ",\"aggregationTemporality\":2";

/// The unit in the form of UCUM; empty: a plain count.
std::string_view unit_of(std::string_view name) {
  if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
  if (name.ends_with("_seconds")) return "s";
  if (name.ends_with("_bytes")) return "By";
  return {};
}

std::string_view data_of(std::string_view type) {
  if (type == "counter") return "sum";
  return type;
}

}  // namespace

void MetricsDocument::family(std::string_view name, std::string_view type, std::string_view help) {
  end_family();
  name_ = name;
  type_ = type;
  help_ = help;
}

void MetricsDocument::end_family() {
  if (!std::exchange(is_open_, false)) return;
  out_ += ']';
  if (type_ != "gauge") out_ += cumulative;
  if (type_ == "counter") out_ += ",\"isMonotonic\":true";
  out_ += "}}";
}

/// Appends the members that all kinds of data points have, and those of the metric before the first
/// one.
void MetricsDocument::begin_point(Labels labels) {
  Appender out(out_);
  if (!std::exchange(is_open_, true)) {
    out.add(points_ == 0 ? "{\"name\":\"" : ",{\"name\":\"").add(name_).add("\",\"description\":");
    json::append_string(out, help_);
    if (const auto unit = unit_of(name_); !unit.empty()) out.add(",\"unit\":\"").add(unit).add('"');
    out.add(",\"").add(data_of(type_)).add("\":{\"dataPoints\":[");
  } else {
    out.add(',');
  }
  ++points_;
  Attributes attributes(out.add("{\"attributes\":"));
  for (const auto& [name, value] : labels)
    attributes.text(name, value);
  attributes.end();
  if (type_ != "gauge") append_nanoseconds(out.add(",\"startTimeUnixNano\":"), started_at_);
  append_nanoseconds(out.add(",\"timeUnixNano\":"), now_);
}

void MetricsDocument::sample(Labels labels, std::uint64_t value) {
  sample(labels, static_cast<std::int64_t>(value));
}

void MetricsDocument::sample(Labels labels, std::int64_t value) {
  begin_point(labels);
  Appender out(out_);
  append_quoted(out.add(",\"asInt\":"), value);
  out.add('}');
}

void MetricsDocument::sample(Labels labels, Duration value) {
  begin_point(labels);
  out_.append(",\"asDouble\":").append(seconds_text(value)) += '}';
}

void MetricsDocument::histogram(Labels labels, const HistogramSum& histogram) {
  begin_point(labels);
  std::uint64_t count = 0;
  for (const std::uint64_t bucket : histogram.buckets)
    count += bucket;
  const std::string sum = seconds_text(Duration{static_cast<std::int64_t>(histogram.sum_us)});
  Appender out(out_);
  append_quoted(out.add(",\"count\":"), count);
  out.add(",\"sum\":").add(sum).add(",\"bucketCounts\":");
  char separator = '[';
  for (const std::uint64_t bucket : histogram.buckets)
    append_quoted(out.add(std::exchange(separator, ',')), bucket);
  out.add("],\"explicitBounds\":");
  separator = '[';
  for (const std::int64_t bound : DurationHistogram::bounds_us)
    out.add(std::exchange(separator, ',')).add(seconds_text(Duration{bound}));
  out.add("]}");
}

std::string MetricsDocument::take() {
  end_family();
  return std::move(out_);
}

}  // namespace weir::telemetry
