// Counts of the exporter, written by its thread and read by any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/counters.hpp"

namespace weir::telemetry {

enum class Signal : std::uint8_t { spans, metrics };

struct SignalCounters {
  Counter ok, failed;  ///< requests to the collector
  Counter dropped;     ///< spans or data points that were given up, or that it rejected
};

struct ExportCounters {
  SignalCounters spans;
  SignalCounters metrics;
};

/// The label of metrics.
constexpr std::string_view to_string(Signal signal) {
  return signal == Signal::spans ? "spans" : "metrics";
}

}  // namespace weir::telemetry
