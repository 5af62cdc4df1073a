// The export of spans and metrics to a collector (docs/opentelemetry.md), on the server's loop and
// never on the path of a request.
//
// Workers put spans into queues of their own; metrics are read from the counters that /metrics
// shows. Not thread-safe: one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "admin/instruments.hpp"
#include "app/log.hpp"
#include "app/signal_exporter.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "loop/calls.hpp"
#include "options/telemetry.hpp"
#include "telemetry/export_counters.hpp"
#include "telemetry/span_queue.hpp"
#include "tls/context.hpp"

namespace weir::app {

class Telemetry {
 public:
  static constexpr std::chrono::milliseconds check_interval{100};

  /// All must outlive this object.
  struct Dependencies {
    boost::asio::io_context& io;
    const MonotonicClock& clock;
    std::deque<telemetry::SpanQueue>& spans;  ///< one a worker
    std::function<void(const LogLine&)> log;
  };

  Telemetry(Dependencies dependencies, std::uint64_t seed);

  /// Begins, changes or ends the export. Called after each load, before the workers apply it.
  void use(const std::optional<options::Otlp>& options,
           std::shared_ptr<const tls::ClientContext> tls);
  /// The counters to export from now on.
  void show(std::shared_ptr<const admin::Instruments> instruments) {
    instruments_ = std::move(instruments);
  }
  /// Exports what is left, at most this long and `timeout`, then calls `finished` once. Called when
  /// the workers have ended.
  void finish(Duration at_most, std::function<void()> finished);
  /// Ends finish() at once.
  void abandon();

  /// nullptr while nothing is exported.
  const telemetry::ExportCounters* counters() const { return options_ ? &counters_ : nullptr; }

 private:
  ExportTarget target(const char* path, std::shared_ptr<const tls::ClientContext> tls) const;
  bool has_batch() const;
  ExportBatch take_spans();
  ExportBatch take_metrics();
  void check();

  const Dependencies with_;
  Random random_;
  const Instant started_at_;
  const std::string instance_id_;
  std::optional<options::Otlp> options_;
  std::string resource_;  ///< as JSON
  std::shared_ptr<const admin::Instruments> instruments_;
  telemetry::ExportCounters counters_;
  SignalExporter spans_;
  SignalExporter metrics_;
  int unfinished_ = 0;                ///< signals that finish() waits for
  std::uint64_t dropped_before_ = 0;  ///< spans, when finish() was called
  std::function<void()> finished_;
  bool exported_last_metrics_ = false;  ///< since finish() was called
  loop::Alarm alarm_;
};

}  // namespace weir::app
