#include "rules/concurrency.hpp"

#include <algorithm>

namespace weir::rules {

Admission admit(const Policy& policy, const ConcurrencyState&, Instant, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  if (cost <= policy.capacity) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = policy.capacity};
  return {};
}

void charge(const Policy&, ConcurrencyState&, Instant, std::int64_t) {}

void refund(const Policy&, ConcurrencyState&, Instant, std::int64_t) {}

Level level(const Policy& policy, const ConcurrencyState&, Instant) {
  return {.remaining = policy.capacity};
}

Instant whole_at(const Policy&, const ConcurrencyState&) {
  return {};
}

}  // namespace weir::rules
