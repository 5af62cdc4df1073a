// Sends one signal to the collector, on the server's loop: makes a request of what waits, sends it
// again or gives it up as telemetry::ExportMachine decides, and reports failures.
//
// Not thread-safe: one loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "app/export_report.hpp"
#include "app/log.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "fetch/call.hpp"
#include "telemetry/export_counters.hpp"
#include "telemetry/export_machine.hpp"

namespace weir::app {

/// The receiver of a signal.
struct ExportTarget {
  http::Url url{};  ///< with the path of the signal
  std::string shown{};
  std::vector<std::pair<std::string, Secret>> fields{};
  Duration timeout{};
  std::shared_ptr<const tls::ClientContext> tls{};
};

/// The body of a request, and the spans or data points in it; 0: there was nothing to send.
struct ExportBatch {
  std::string body{};
  std::size_t count = 0;
};

class SignalExporter {
 public:
  /// They outlive the exporter.
  struct Dependencies {
    boost::asio::io_context& io;
    const MonotonicClock& clock;
    Random& random;
    telemetry::SignalCounters& counters;
    std::function<void(const LogLine&)> log;
    std::function<bool()> has_batch;    ///< see telemetry::ExportMachine::next()
    std::function<ExportBatch()> take;  ///< makes the next request
  };

  SignalExporter(telemetry::Signal signal, Dependencies dependencies);
  ~SignalExporter();
  SignalExporter(const SignalExporter&) = delete;
  SignalExporter& operator=(const SignalExporter&) = delete;

  /// Exports to `target` from now on. A request in progress ends as it began.
  void use(ExportTarget target, Duration interval);
  /// Sends what is due. Called often.
  void check();
  /// Sends what is left, each request once, until one fails; then calls `finished` once.
  void finish(std::function<void()> finished);
  /// Ends the request in progress, and drops it. use() begins again.
  void stop();

 private:
  void take();
  void send();
  void end(const Result<fetch::Answer>& answer);
  telemetry::ExportOutcome judge(const Result<fetch::Answer>& answer, std::string& reason) const;
  void drop();
  void end_all();
  void write(const std::optional<LogLine>& line) const;

  const Dependencies with_;
  ExportTarget target_;
  telemetry::ExportMachine machine_;
  ExportReport report_;
  ExportBatch batch_;  ///< of the request in progress, or the one to be sent again
  std::shared_ptr<fetch::Call> call_;
  std::function<void()> finished_;  ///< set: the process ends
};

}  // namespace weir::app
