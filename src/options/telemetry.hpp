// Settings of the export of spans and metrics by OTLP. The names follow OTEL_EXPORTER_OTLP_*,
// OTEL_BSP_* and OTEL_METRIC_EXPORT_INTERVAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "http/url.hpp"
#include "tls/material.hpp"

namespace weir::options {

/// Spans on their way from the workers to the collector.
struct SpanExport {
  Duration interval = std::chrono::seconds(5);  ///< a batch waits no longer
  std::size_t batch = 512;                      ///< spans of one request at most
  std::size_t queue = 2048;  ///< spans of a worker that may wait; more are dropped
  friend bool operator==(const SpanExport&, const SpanExport&) = default;
};

struct MetricExport {
  Duration interval = std::chrono::minutes(1);
  friend bool operator==(const MetricExport&, const MetricExport&) = default;
};

struct Otlp {
  http::Url url{};      ///< of the endpoint: the paths of the signals are appended to its path
  std::string shown{};  ///< the URL for the log, with variables as written
  std::vector<std::pair<std::string, Secret>> headers{};
  Duration timeout = std::chrono::seconds(10);  ///< of one request
  tls::ClientFiles tls{};                       ///< for https://
  std::optional<SpanExport> spans = SpanExport{};
  std::optional<MetricExport> metrics = MetricExport{};
  std::vector<std::pair<std::string, std::string>> resource{};
  friend bool operator==(const Otlp&, const Otlp&) = default;
};

}  // namespace weir::options
