// The body of the request that a webhook receives for an event. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "limiter/quota_events.hpp"

namespace weir::app {

/// The names that belong to an event.
struct EventNames {
  std::string_view id;        ///< unique, the same whenever the event is sent
  std::string_view instance;  ///< that reports it
  std::string_view policy;
  std::string_view identity;  ///< of the identity, such as api_key
};

/// A JSON object. `wall_clock_offset`: the wall clock less that of the event. The key is its hash.
std::string event_json(const limiter::QuotaEvent& event, const EventNames& names,
                       Duration wall_clock_offset);

}  // namespace weir::app
