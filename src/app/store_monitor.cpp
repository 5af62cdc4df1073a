#include "app/store_monitor.hpp"

#include <utility>

#include "redis/remedy.hpp"

namespace weir::app {
namespace {

/// `what: error`, or `what: otherwise` if the error is empty.
std::string explained(std::string_view what, std::string_view error, std::string_view otherwise) {
  return std::string(what).append(": ").append(error.empty() ? otherwise : error);
}

}  // namespace

admin::StoreStatus StoreMonitor::status_of(const StoreReading& reading) const {
  if (!reading.is_ready)
    return {.last_error =
                explained("redis is not reachable", reading.redis_error, "no answer yet")};
  // After an outage a connection alone proves nothing: it may lead to a replica.
  const bool is_trusted = reported_.deciding || reading.has_decided;
  if (reading.is_breaker_closed && is_trusted) return {.connected = true, .deciding = true};
  return {.connected = true,
          .last_error = explained("redis does not decide", reading.redis_error,
                                  to_string(reading.last_error))};
}

std::vector<LogLine> StoreMonitor::update(const StoreReading& reading, Instant now) {
  using Level = LogLine::Level;
  std::vector<LogLine> lines;
  add_errors(reading, now, lines);
  admin::StoreStatus status = status_of(reading);
  const bool has_changed = !(status == reported_);
  if (!has_changed && !is_reason_unlogged_) return lines;
  reported_ = status;
  is_reason_unlogged_ = false;
  switch (health_.report(worker_, status)) {
    case admin::StoreHealth::Change::none:
      // A reason without the text of an error says less than the one that was logged before.
      if (status.deciding || reading.redis_error.empty()) break;
      [[fallthrough]];
    case admin::StoreHealth::Change::lost:
      is_reason_unlogged_ = !health_.may_log_reason(status.last_error, now);
      if (!is_reason_unlogged_)
        lines.push_back({Level::warning, status.last_error + "; deciding by on_failure"});
      break;
    case admin::StoreHealth::Change::back:
      lines.push_back({Level::info, "redis is back"});
      break;
  }
  return lines;
}

void StoreMonitor::add_errors(const StoreReading& reading, Instant now,
                              std::vector<LogLine>& lines) {
  for (std::size_t kind = 0; kind < store::error_count; ++kind) {
    const auto error = static_cast<store::Error>(kind);
    const std::uint64_t count = reading.errors[kind];
    const std::string_view remedy = redis::remedy(error, reading.error_replies[kind]);
    if (std::exchange(errors_seen_[kind], count) == count || remedy.empty()) continue;
    if (!health_.may_log(error, now)) continue;
    std::string text = "redis could not decide (";
    text.append(to_string(error)).append(": ").append(reading.error_replies[kind]);
    lines.push_back({LogLine::Level::warning, text.append("); ").append(remedy)});
  }
}

}  // namespace weir::app
