// The log lines about the webhook of events: a failure once until an event is delivered again.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "app/log.hpp"
#include "base/time.hpp"

namespace weir::app {

class WebhookReport {
 public:
  /// A receiver that fails now and then is reported at most once in this time.
  static constexpr Duration quiet_for = std::chrono::minutes(1);

  /// `reason`: without the URL.
  std::optional<LogLine> failed(const std::string& reason, Instant now);
  std::optional<LogLine> rejected(const std::string& reason, Instant now);
  /// Too many events wait.
  std::optional<LogLine> dropped();
  std::optional<LogLine> delivered();

 private:
  std::optional<LogLine> warn(std::string text, Instant now);

  bool is_reported_ = false;  ///< a failure, and no delivery since
  bool is_dropping_ = false;
  Instant quiet_until_{};
};

}  // namespace weir::app
