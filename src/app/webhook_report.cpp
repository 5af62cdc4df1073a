#include "app/webhook_report.hpp"

#include <utility>

namespace weir::app {
namespace {

using Level = LogLine::Level;

const std::string webhook_subject = "events.webhook: ";

}  // namespace

std::optional<LogLine> WebhookReport::warn(std::string text, Instant now) {
  if (is_reported_ || now < quiet_until_) return std::nullopt;
  is_reported_ = true;
  quiet_until_ = now + quiet_for;
  return LogLine{Level::warning, webhook_subject + std::move(text)};
}

std::optional<LogLine> WebhookReport::failed(const std::string& reason, Instant now) {
  return warn("cannot deliver an event: " + reason + "; it is sent again for 5 minutes", now);
}

std::optional<LogLine> WebhookReport::rejected(const std::string& reason, Instant now) {
  return warn("an event was not accepted: " + reason + "; it is dropped", now);
}

std::optional<LogLine> WebhookReport::dropped() {
  if (std::exchange(is_dropping_, true)) return std::nullopt;
  return LogLine{Level::warning,
                 webhook_subject + "too many events wait; more are dropped and counted"};
}

std::optional<LogLine> WebhookReport::delivered() {
  const bool was_dropping = std::exchange(is_dropping_, false);
  if (!std::exchange(is_reported_, false) && !was_dropping) return std::nullopt;
  return LogLine{Level::info, webhook_subject + "events are delivered again"};
}

}  // namespace weir::app
