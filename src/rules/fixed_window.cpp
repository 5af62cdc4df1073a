#include "rules/fixed_window.hpp"

#include "rules/window.hpp"

namespace weir::rules {

Admission admit(const Policy& policy, const FixedWindowState& state, Instant now, Demand demand) {
  return admit_in_window(policy, state, now, demand);
}

void charge(const Policy& policy, FixedWindowState& state, Instant now, std::int64_t units) {
  if (units <= 0) return;
  const std::int64_t used = used_at(policy, state, now);
  if (used == 0) state.start = window_start(policy, now);
  state.used = used + std::min(units, exact_limit - used);
}

void refund(const Policy& policy, FixedWindowState& state, Instant now, std::int64_t units) {
  const std::int64_t used = used_at(policy, state, now);
  if (units > 0 && used > 0) state.used = used - std::min(units, used);
}

Level level(const Policy& policy, const FixedWindowState& state, Instant now) {
  return level_of_window(policy, state, now);
}

Instant whole_at(const Policy& policy, const FixedWindowState& state) {
  return end_of_window(policy, state);
}

}  // namespace weir::rules
