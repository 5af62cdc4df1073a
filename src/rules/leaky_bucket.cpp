#include "rules/leaky_bucket.hpp"

#include "rules/arrival.hpp"

namespace weir::rules {

namespace {

/// How far ahead the TAT may be for a demand of `cost` to be admitted.
Span admissible(const Policy& policy, std::int64_t cost) {
  return std::min(span_of(policy, policy.capacity - cost), Span{to_us(policy.max_delay), 0});
}

std::int64_t admissible_units(const Policy& policy, Span ahead) {
  return ahead <= Span{to_us(policy.max_delay), 0} ? units_left(policy, ahead) : 0;
}

}  // namespace

Admission admit(const Policy& policy, const LeakyBucketState& state, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const Span ahead = ahead_of(policy, state, now);
  const std::int64_t left = admissible_units(policy, ahead);
  if (cost == 0) return {.allowed = true};
  if (cost <= left) return {.allowed = true, .units = cost, .delay = ceil_us(ahead)};
  if (demand.overdraft) return {.allowed = true, .units = left, .delay = ceil_us(ahead)};
  if (cost > policy.capacity) return {};
  return {.retry_after = wait_until(policy, ahead, admissible(policy, cost))};
}

void charge(const Policy& policy, LeakyBucketState& state, Instant now, std::int64_t units) {
  advance(policy, state, now, units);
}

void refund(const Policy& policy, LeakyBucketState& state, Instant now, std::int64_t units) {
  retreat(policy, state, now, units);
}

Level level(const Policy& policy, const LeakyBucketState& state, Instant now) {
  const Span ahead = ahead_of(policy, state, now);
  const std::int64_t left = admissible_units(policy, ahead);
  Level result{.remaining = left, .reset_after = ceil_us(ahead)};
  if (left < policy.capacity) {
    result.more_after = wait_until(policy, ahead, admissible(policy, left + 1));
  }
  return result;
}

Instant whole_at(const Policy& policy, const LeakyBucketState& state) {
  return whole_of(policy, state);
}

}  // namespace weir::rules
