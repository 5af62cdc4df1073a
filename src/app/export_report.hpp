// The log lines about the export of one signal: each reason of a failure once, until it changes or
// the collector accepts again. Pure.
#pragma once

#include <optional>
#include <string>

#include "app/log.hpp"
#include "telemetry/export_answer.hpp"
#include "telemetry/export_counters.hpp"

namespace weir::app {

class ExportReport {
 public:
  explicit ExportReport(telemetry::Signal signal) : signal_(signal) {}

  /// `reason`: of a request to `url` that failed. `is_repeated`: the request will be sent again.
  std::optional<LogLine> failed(const std::string& url, const std::string& reason,
                                bool is_repeated);
  /// The collector has accepted a request, perhaps without a part of it.
  std::optional<LogLine> accepted(const std::optional<telemetry::PartialSuccess>& part);

 private:
  std::string what() const { return std::string(to_string(signal_)); }

  const telemetry::Signal signal_;
  std::string failure_;   ///< logged, and not over; empty: none
  std::string rejected_;  ///< the message of the collector that was logged last
};

/// Why a request failed that the collector answered with this status. `message`: its explanation;
/// empty: none.
std::string failure_text(int status, const std::string& message);

}  // namespace weir::app
