#include "rules/gcra.hpp"

#include "rules/arrival.hpp"

namespace weir::rules {

Admission admit(const Policy& policy, const GcraState& state, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const Span ahead = ahead_of(policy, state, now);
  const std::int64_t left = units_left(policy, ahead);
  if (cost <= left) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = left};
  if (cost > policy.capacity) return {};
  return {.retry_after = wait_until(policy, ahead, span_of(policy, policy.capacity - cost))};
}

void charge(const Policy& policy, GcraState& state, Instant now, std::int64_t units) {
  advance(policy, state, now, units);
}

void refund(const Policy& policy, GcraState& state, Instant now, std::int64_t units) {
  retreat(policy, state, now, units);
}

Level level(const Policy& policy, const GcraState& state, Instant now) {
  const Span ahead = ahead_of(policy, state, now);
  const std::int64_t left = units_left(policy, ahead);
  Level result{.remaining = left, .reset_after = ceil_us(ahead)};
  if (left < policy.capacity) {
    result.more_after = wait_until(policy, ahead, span_of(policy, policy.capacity - left - 1));
  }
  return result;
}

Instant whole_at(const Policy& policy, const GcraState& state) {
  return whole_of(policy, state);
}

}  // namespace weir::rules
