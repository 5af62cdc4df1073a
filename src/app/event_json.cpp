#include "app/event_json.hpp"

#include "base/rfc3339.hpp"
#include "base/siphash.hpp"
#include "json/write.hpp"

namespace weir::app {

std::string event_json(const limiter::QuotaEvent& event, const EventNames& names,
                       Duration wall_clock_offset) {
  const Instant at = event.at + wall_clock_offset;
  json::Object body;
  body.text("id", names.id)
      .text("time", to_rfc3339(at))
      .text("instance", names.instance)
      .text("policy", names.policy)
      .number("at", event.percent)
      .text("identity", names.identity)
      .text("key", to_hex(event.key.identity))
      .number("used", event.used)
      .number("quota", event.limit);
  if (!event.counts_slots) body.text("reset_at", to_rfc3339(at + event.whole_after));
  return body.str();
}

}  // namespace weir::app
