// The policies' definitions, computed the slow way: from the list of everything charged, in exact
// rationals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rules/rules.hpp"

namespace weir::rules::test {

__extension__ using Wide = __int128;

struct Charge {
  Instant at{};
  std::int64_t units = 0;
};

constexpr Wide floor_wide(Wide dividend, Wide divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

constexpr Wide ceil_wide(Wide dividend, Wide divisor) {
  return -floor_wide(-dividend, divisor);
}

/// Units that pass at `now`: with a bucket, what every stretch that ends now leaves of capacity +
/// length * rate.
inline std::int64_t left_in_bucket(const Policy& policy, const std::vector<Charge>& charges,
                                   Instant now) {
  const Wide count = policy.rates[0].count;
  const Wide per = to_us(policy.rates[0].per);
  Wide left = policy.capacity;
  Wide sum = 0;
  for (auto charge = charges.rbegin(); charge != charges.rend(); ++charge) {
    sum += charge->units;
    const Wide length = to_us(now - charge->at);
    left = std::min(left, floor_wide((policy.capacity - sum) * per + length * count, per));
  }
  return static_cast<std::int64_t>(std::max<Wide>(left, 0));
}

/// When the queue is empty, in count-ths of a microsecond: each charge takes its turn after those
/// before it.
inline Wide queue_end(const Policy& policy, const std::vector<Charge>& charges) {
  Wide end = 0;
  for (const Charge& charge : charges) {
    end = std::max(end, Wide{to_us(charge.at)} * policy.rates[0].count) +
          Wide{charge.units} * to_us(policy.rates[0].per);
  }
  return end;
}

inline Duration delay_in_queue(const Policy& policy, const std::vector<Charge>& charges,
                               Instant now) {
  const Wide ahead = queue_end(policy, charges) - Wide{to_us(now)} * policy.rates[0].count;
  return Duration{
      static_cast<std::int64_t>(ceil_wide(std::max<Wide>(ahead, 0), policy.rates[0].count))};
}

inline std::int64_t left_in_queue(const Policy& policy, const std::vector<Charge>& charges,
                                  Instant now) {
  if (delay_in_queue(policy, charges, now) > policy.max_delay) return 0;
  return left_in_bucket(policy, charges, now);
}

inline std::int64_t left_in_window(const Policy& policy, const std::vector<Charge>& charges,
                                   Instant now) {
  const Duration per = policy.rates[0].per;
  Instant start{};
  Wide used = 0;
  const auto enter = [&](Instant at) {
    if (used > 0 && at < start + per) return;
    used = 0;
    start =
        policy.anchor == Anchor::clock ? instant_from_us(to_us(at) - to_us(at) % to_us(per)) : at;
  };
  for (const Charge& charge : charges) {
    enter(charge.at);
    used += charge.units;
  }
  enter(now);
  return static_cast<std::int64_t>(std::max<Wide>(policy.capacity - used, 0));
}

inline std::int64_t left_in_log(const Policy& policy, const std::vector<Charge>& charges,
                                Instant now) {
  Wide used = 0;
  for (const Charge& charge : charges) {
    if (charge.at > now - policy.rates[0].per) used += charge.units;
  }
  return static_cast<std::int64_t>(std::max<Wide>(policy.capacity - used, 0));
}

/// One tier, from the log: whole sub-windows that overlap the window, the oldest in proportion.
inline std::int64_t left_in_tier(const Rate& rate, const std::vector<Charge>& charges,
                                 Instant now) {
  const std::int64_t length = to_us(rate.per) / 10;
  const std::int64_t newest = to_us(now) / length;
  Wide whole = 0;
  Wide oldest = 0;
  for (const Charge& charge : charges) {
    const std::int64_t age = newest - to_us(charge.at) / length;
    if (age < 10) whole += charge.units;
    if (age == 10) oldest += charge.units;
  }
  const Wide in_proportion = ceil_wide(oldest * (length - to_us(now) % length), length);
  const Wide share = ceil_wide(rate.count, 10);
  return static_cast<std::int64_t>(rate.count - whole - std::max(in_proportion, oldest - share));
}

inline std::int64_t left_in_tiers(const Policy& policy, const std::vector<Charge>& charges,
                                  Instant now) {
  std::int64_t left = policy.capacity;
  for (const Rate& rate : policy.rates)
    left = std::min(left, left_in_tier(rate, charges, now));
  return left;
}

inline std::int64_t units_left(const Policy& policy, const std::vector<Charge>& charges,
                               Instant now) {
  switch (policy.algorithm) {
    case Algorithm::fixed_window:
    case Algorithm::attributed_window:
      return left_in_window(policy, charges, now);
    case Algorithm::sliding_window:
      return left_in_tiers(policy, charges, now);
    case Algorithm::sliding_log:
      return left_in_log(policy, charges, now);
    case Algorithm::leaky_bucket:
      return left_in_queue(policy, charges, now);
    case Algorithm::concurrency:
      return policy.capacity;
    case Algorithm::token_bucket:
    case Algorithm::gcra:
      break;
  }
  return left_in_bucket(policy, charges, now);
}

}  // namespace weir::rules::test
