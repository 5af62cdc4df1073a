// The metrics in the JSON encoding of OTLP (opentelemetry-proto, metrics/v1): counters as
// cumulative monotonic sums, gauges, and histograms with explicit bounds. Names are those of
// /metrics; the unit follows from the name. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "telemetry/metric_sink.hpp"

namespace weir::telemetry {

class MetricsDocument final : public MetricSink {
 public:
  /// `started_at`: when the counters began to count.
  MetricsDocument(Instant started_at, Instant now) : started_at_(started_at), now_(now) {}

  void family(std::string_view name, std::string_view type, std::string_view help) override;
  void sample(Labels labels, std::uint64_t value) override;
  void sample(Labels labels, std::int64_t value) override;
  void sample(Labels labels, Duration value) override;
  void histogram(Labels labels, const HistogramSum& histogram) override;

  /// Returns the metrics with commas between them. A family without samples is left out.
  std::string take();
  /// Data points so far.
  std::size_t points() const { return points_; }

 private:
  void begin_point(Labels labels);
  void end_family();

  const Instant started_at_;
  const Instant now_;
  std::string_view name_;
  std::string_view type_;
  std::string_view help_;
  bool is_open_ = false;  ///< the family has a point
  std::size_t points_ = 0;
  std::string out_;
};

}  // namespace weir::telemetry
