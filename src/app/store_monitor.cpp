#include "app/store_monitor.hpp"

#include <utility>

#include "redis/remedy.hpp"

namespace weir::app {
namespace {

/// `what: error`, or `what: otherwise` if there is no error; with the part of the keys.
std::string explained(std::string_view what, const StoreReading& reading,
                      std::string_view otherwise) {
  std::string text(what);
  if (!reading.part.empty()) text.append(" ").append(reading.part);
  return text.append(": ").append(reading.redis_error.empty() ? otherwise : reading.redis_error);
}

/// `... did not decide: 24 within 11 s (timeout: 23, overloaded: 1)`
std::string undecided_text(const admin::UndecidedRequests::Report& report) {
  std::uint64_t all = 0;
  std::string kinds;
  for (std::size_t kind = 0; kind < report.counts.size(); ++kind) {
    if (report.counts[kind] == 0) continue;
    all += report.counts[kind];
    kinds.append(kinds.empty() ? "" : ", ").append(to_string(static_cast<store::Error>(kind)));
    kinds.append(": ").append(std::to_string(report.counts[kind]));
  }
  std::string text = "requests answered 503 by on_failure: deny, because redis did not decide: ";
  text += std::to_string(all);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(report.within).count();
  if (seconds > 0) text += " within " + std::to_string(seconds) + " s";  // else it is not known
  return text += " (" + kinds + ")";
}

}  // namespace

admin::StoreStatus StoreMonitor::status_of(const StoreReading& reading) const {
  if (!reading.is_ready) {
    const std::string_view what = reading.connection_failure == store::Error::refused
                                      ? "redis refuses the connection"
                                      : "redis is not reachable";
    return {.last_error = explained(what, reading, "no answer yet"),
            .kind = reading.connection_failure,
            .is_explained = !reading.redis_error.empty()};
  }
  if (reading.is_partial) {
    constexpr auto kind = store::Error::redirected;
    std::string text = "redis answers for a part of the keys only: ";
    return {.connected = true,
            .last_error = text.append(redis::remedy(kind, {}, reading.topology)),
            .kind = kind,
            .is_explained = true};
  }
  // After an outage a connection alone proves nothing: it may lead to a replica.
  const bool is_trusted = reported_.deciding || reading.has_decided;
  if (reading.is_breaker_closed && is_trusted) return {.connected = true, .deciding = true};
  return {.connected = true,
          .last_error = explained("redis does not decide", reading, to_string(reading.last_error)),
          .kind = reading.last_error,
          .is_explained = !reading.redis_error.empty()};
}

std::vector<LogLine> StoreMonitor::update(const StoreReading& reading, Instant now) {
  std::vector<LogLine> lines;
  add_errors(reading, now, lines);
  add_masters(reading, now, lines);
  add_change(reading, now, lines);
  add_undecided(reading, now, false, lines);
  return lines;
}

std::vector<LogLine> StoreMonitor::finish(const StoreReading& reading, Instant now) {
  std::vector<LogLine> lines;
  add_undecided(reading, now, true, lines);
  return lines;
}

void StoreMonitor::add_masters(const StoreReading& reading, Instant now,
                               std::vector<LogLine>& lines) {
  if (reading.masters && std::exchange(masters_seen_, reading.masters) != reading.masters)
    health_.report_masters(store_, reading.masters);
  if (auto change = health_.masters_change(now))
    lines.push_back({LogLine::Level::info, *std::move(change)});
}

void StoreMonitor::add_change(const StoreReading& reading, Instant now,
                              std::vector<LogLine>& lines) {
  using Level = LogLine::Level;
  using Line = admin::StoreHealth::Line;
  admin::StoreStatus status = status_of(reading);
  const bool has_changed = !(status == reported_);
  if (!has_changed && !is_reason_unlogged_) return;
  reported_ = status;
  const Line line = health_.report(worker_, std::move(status), now);
  is_reason_unlogged_ = line == Line::later;
  if (line == Line::loss)
    lines.push_back({Level::warning, reported_.last_error + "; deciding by on_failure"});
  if (line == Line::back) lines.push_back({Level::info, "redis is back"});
}

void StoreMonitor::add_undecided(const StoreReading& reading, Instant now, bool is_last,
                                 std::vector<LogLine>& lines) {
  admin::UndecidedRequests::Counts recent{};
  for (std::size_t kind = 0; kind < recent.size(); ++kind)
    recent[kind] =
        reading.undecided[kind] - std::exchange(undecided_seen_[kind], reading.undecided[kind]);
  if (const auto report = health_.report_undecided(recent, now, is_last))
    lines.push_back({LogLine::Level::warning, undecided_text(*report)});
}

void StoreMonitor::add_errors(const StoreReading& reading, Instant now,
                              std::vector<LogLine>& lines) {
  for (std::size_t kind = 0; kind < store::error_count; ++kind) {
    const auto error = static_cast<store::Error>(kind);
    const std::uint64_t count = reading.errors[kind];
    const std::string_view remedy =
        redis::remedy(error, reading.error_replies[kind], reading.topology);
    if (std::exchange(errors_seen_[kind], count) == count || remedy.empty()) continue;
    if (!health_.may_log(error, now)) continue;
    std::string text = "redis could not decide (";
    text.append(to_string(error)).append(": ").append(reading.error_replies[kind]);
    lines.push_back({LogLine::Level::warning, text.append("); ").append(remedy)});
  }
}

}  // namespace weir::app
