// The receiver of the metrics of one moment: families of samples. The Prometheus text
// (admin/exposition.hpp) and the OTLP document (metrics_document.hpp) are made from the same calls.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/counters.hpp"
#include "base/time.hpp"

namespace weir::telemetry {

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::initializer_list<Label>;

class MetricSink {
 public:
  virtual ~MetricSink() = default;

  /// Starts a metric; all its samples follow before the next family. `type`: "counter", "gauge" or
  /// "histogram". The texts are constants of the program.
  virtual void family(std::string_view name, std::string_view type, std::string_view help) = 0;
  virtual void sample(Labels labels, std::uint64_t value) = 0;
  virtual void sample(Labels labels, std::int64_t value) = 0;
  /// In seconds.
  virtual void sample(Labels labels, Duration value) = 0;
  virtual void histogram(Labels labels, const HistogramSum& histogram) = 0;
};

/// Exact decimal seconds without trailing zeros: 2500 us are `0.0025`.
std::string seconds_text(Duration duration);

}  // namespace weir::telemetry
