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
  if (!reading.is_ready) {
    const std::string_view what = reading.connection_failure == store::Error::refused
                                      ? "redis refuses the connection"
                                      : "redis is not reachable";
    return {.last_error = explained(what, reading.redis_error, "no answer yet"),
            .kind = reading.connection_failure,
            .is_explained = !reading.redis_error.empty()};
  }
  // After an outage a connection alone proves nothing: it may lead to a replica.
  const bool is_trusted = reported_.deciding || reading.has_decided;
  if (reading.is_breaker_closed && is_trusted) return {.connected = true, .deciding = true};
  return {.connected = true,
          .last_error = explained("redis does not decide", reading.redis_error,
                                  to_string(reading.last_error)),
          .kind = reading.last_error,
          .is_explained = !reading.redis_error.empty()};
}

std::vector<LogLine> StoreMonitor::update(const StoreReading& reading, Instant now) {
  using Level = LogLine::Level;
  using Line = admin::StoreHealth::Line;
  std::vector<LogLine> lines;
  add_errors(reading, now, lines);
  admin::StoreStatus status = status_of(reading);
  const bool has_changed = !(status == reported_);
  if (!has_changed && !is_reason_unlogged_) return lines;
  reported_ = status;
  const Line line = health_.report(worker_, std::move(status), now);
  is_reason_unlogged_ = line == Line::later;
  if (line == Line::loss)
    lines.push_back({Level::warning, reported_.last_error + "; deciding by on_failure"});
  if (line == Line::back) lines.push_back({Level::info, "redis is back"});
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
