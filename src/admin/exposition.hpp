// The Prometheus text format, version 0.0.4: families of samples, escaped where the format needs
// it.
//
// Times are whole microseconds and are written exactly, as decimal seconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/metric_sink.hpp"

namespace weir::admin {

using telemetry::Labels;

class Exposition final : public telemetry::MetricSink {
 public:
  /// Starts a metric: its HELP and TYPE lines.
  void family(std::string_view name, std::string_view type, std::string_view help) override;
  void sample(Labels labels, std::uint64_t value) override;
  void sample(Labels labels, std::int64_t value) override;
  void sample(Labels labels, Duration value) override;
  /// Writes cumulative buckets (the last bound is `+Inf`), their sum and their count.
  void histogram(Labels labels, const HistogramSum& histogram) override;

  const std::string& text() const { return out_; }

 private:
  void start(std::string_view suffix, Labels labels, std::string_view bound);
  template <class Number>
  void line(std::string_view suffix, Labels labels, std::string_view bound, Number value);

  std::string name_;
  std::string out_;
};

}  // namespace weir::admin
