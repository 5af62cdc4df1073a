#include "limiter/charge.hpp"

#include <algorithm>

namespace weir::limiter {

std::string describe(const ChargeByStatus& charge) {
  std::string text = charge.is_exclusion ? "all statuses but " : "status ";
  std::string_view separator;
  for (const auto& [first, last] : charge.statuses) {
    text.append(separator).append(std::to_string(first));
    if (last != first) text.append("-").append(std::to_string(last));
    separator = ", ";
  }
  return text;
}

Settled settle(const ChargeByStatus& charge, std::int64_t cost, const RequestEnd& end) {
  if (!end.status) {
    if (end.client_has_left) return {.units = cost, .by = SettledBy::aborted};
    return {.units = 0, .by = SettledBy::missing};
  }
  const bool is_listed = std::ranges::any_of(charge.statuses, [&](const StatusRange& range) {
    return range.first <= *end.status && *end.status <= range.last;
  });
  return {.units = is_listed != charge.is_exclusion ? cost : 0, .by = SettledBy::status};
}

}  // namespace weir::limiter
