#include "app/export_report.hpp"

namespace weir::app {

std::optional<LogLine> ExportReport::failed(const std::string& url, const std::string& reason,
                                            bool is_repeated) {
  if (failure_ == reason) return std::nullopt;
  failure_ = reason;
  return LogLine{LogLine::Level::warning,
                 "telemetry.otlp: cannot export " + what() + " to " + url + ": " + reason +
                     (is_repeated ? "; the request is sent again for up to a minute"
                                  : "; the " + what() + " are dropped")};
}

std::optional<LogLine> ExportReport::accepted(
    const std::optional<telemetry::PartialSuccess>& part) {
  const bool was_failing = !failure_.empty();
  failure_.clear();
  if (part) {
    const std::string text = part->message.empty() ? "no reason given" : part->message;
    if (rejected_ == text) return std::nullopt;
    rejected_ = text;
    return LogLine{LogLine::Level::warning, "telemetry.otlp: the collector has rejected " +
                                                std::to_string(part->rejected) + " of the " +
                                                what() + ": " + text};
  }
  rejected_.clear();
  if (!was_failing) return std::nullopt;
  return LogLine{LogLine::Level::info, "telemetry.otlp: " + what() + " can be exported again"};
}

std::string failure_text(int status, const std::string& message) {
  std::string text = "it answered " + std::to_string(status);
  if (!message.empty()) text += " (" + message + ')';
  if (status >= 300 && status <= 399) text += "; redirects are not followed";
  return text;
}

}  // namespace weir::app
