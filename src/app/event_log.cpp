#include "app/event_log.hpp"

#include <string>

namespace weir::app {

LogLine line_of(const limiter::QuotaEvent& event, std::string_view policy) {
  std::string text = "policy ";
  text.append(policy).append(": key ");
  append_hex(text, event.key.identity);
  text += " has reached " + std::to_string(event.percent) +
          " % of its quota: " + std::to_string(event.used) + " of " + std::to_string(event.limit) +
          " units are used; whole again in " + std::to_string(ceil_seconds(event.whole_after)) +
          " s";
  return {LogLine::Level::info, std::move(text)};
}

void EventLog::use() {
  next_.cancel();
  if (with_.running.config()->event_percents.empty()) return write();
  wait();
}

void EventLog::stop() {
  next_.cancel();
  write();
}

void EventLog::write() {
  const auto& names = with_.running.policy_names();
  for (const limiter::QuotaEvent& event : with_.events.take())
    with_.log(line_of(event, names[event.key.policy_id]));
}

void EventLog::wait() {
  next_.set(interval, [this] {
    write();
    wait();
  });
}

}  // namespace weir::app
