#include "rules/holds.hpp"

namespace weir::rules {

namespace {

bool has_rate(const Policy& policy) {
  return policy.algorithm == Algorithm::gcra || policy.algorithm == Algorithm::token_bucket ||
         policy.algorithm == Algorithm::leaky_bucket;
}

/// The idle time that pays one capacity. A window pays once for its whole length, tiers for that of
/// the longest.
Duration round_of(const Policy& policy) {
  if (has_rate(policy)) return policy.refill;
  Duration longest{1};
  for (const Rate& rate : policy.rates)
    longest = std::max(longest, rate.per);
  return longest;
}

}  // namespace

Repayment paid_by_idle(const Policy& policy, Duration idle, std::int64_t debt) {
  const Duration round = round_of(policy);
  const std::int64_t rounds = idle / round;
  if (rounds >= ceil_div(debt, policy.capacity)) return {.units = debt, .time = idle};
  Repayment paid{.units = rounds * policy.capacity, .time = round * rounds};
  if (!has_rate(policy)) return paid;
  const std::int64_t more =
      std::min(units_in(policy, to_us(idle - paid.time), 0).whole, debt - paid.units);
  paid.units += more;
  paid.time += ceil_us(span_of(policy, more));
  return paid;
}

Instant paid_at(const Policy& policy, Instant from, std::int64_t debt) {
  const Duration round = round_of(policy);
  const std::int64_t rounds = ceil_div(debt, policy.capacity);
  const Duration time = rounds > longest_repayment / round ? longest_repayment : round * rounds;
  return time > Instant::max() - from ? Instant::max() : from + time;
}

Duration time_to_pay(const Policy& policy, std::int64_t units) {
  return has_rate(policy) ? ceil_us(span_of(policy, units)) : round_of(policy);
}

void owe(Holds& holds, std::int64_t units, Instant now) {
  if (units <= 0) return;
  holds.paid_until = std::max(holds.paid_until, now);
  holds.debt = std::min(holds.debt + units, exact_limit);
}

void hold(Holds& holds, std::int64_t units) {
  holds.held = std::min(holds.held + std::max<std::int64_t>(units, 0), exact_limit);
}

}  // namespace weir::rules
