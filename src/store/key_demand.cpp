#include "store/key_demand.hpp"

#include "rules/span.hpp"

namespace weir::store {

void KeyDemand::note_request(Instant now, Duration duration) {
  if (now >= period_began_ + duration) {
    const bool is_next = now < period_began_ + 2 * duration;
    former_requests_ = is_next ? requests_ : 0;
    former_units_ = is_next ? units_ : 0;
    requests_ = 0;
    units_ = 0;
    period_began_ = now;
  }
  ++requests_;
  last_request_ = now;
}

void KeyDemand::note(std::int64_t cost, Instant now) {
  units_ = std::min(units_ + cost, rules::exact_limit);
  last_noted_ = now;
}

}  // namespace weir::store
