// The policies' definitions, computed the slow way: from the list of everything charged, in exact
// rationals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rules/rules.hpp"

namespace weir::rules::test {

__extension__ using Wide = __int128;

/// A refund has negative units.
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
    used = std::clamp<Wide>(used + charge.units, 0, exact_limit);
  }
  enter(now);
  return static_cast<std::int64_t>(std::max<Wide>(policy.capacity - used, 0));
}

/// Removes `units` from the newest charges.
inline void remove_newest(std::vector<Charge>& charges, Wide units) {
  while (units > 0 && !charges.empty()) {
    const auto taken = static_cast<std::int64_t>(std::min<Wide>(units, charges.back().units));
    charges.back().units -= taken;
    units -= taken;
    if (charges.back().units == 0) charges.pop_back();
  }
}

/// The charges of a log without those that are refunded. A refund finds the newest `quota` units of
/// the window, and leaves no others.
inline std::vector<Charge> without_refunds(const Policy& policy,
                                           const std::vector<Charge>& charges) {
  std::vector<Charge> result;
  for (const Charge& charge : charges) {
    if (charge.units > 0) result.push_back(charge);
    if (charge.units >= 0) continue;
    std::vector<Charge> counted;
    Wide room = policy.capacity;
    for (auto one = result.rbegin(); one != result.rend() && room > 0; ++one) {
      if (one->at <= charge.at - policy.rates[0].per) break;
      const auto units = static_cast<std::int64_t>(std::min<Wide>(room, one->units));
      counted.insert(counted.begin(), {one->at, units});
      room -= units;
    }
    remove_newest(counted, -Wide{charge.units});
    result = counted;
  }
  return result;
}

inline std::int64_t left_in_log(const Policy& policy, const std::vector<Charge>& all, Instant now) {
  const std::vector<Charge> charges = without_refunds(policy, all);
  Wide used = 0;
  for (const Charge& charge : charges) {
    if (charge.at > now - policy.rates[0].per) used += charge.units;
  }
  return static_cast<std::int64_t>(std::max<Wide>(policy.capacity - used, 0));
}

/// The units of one tier that count, from the log: in the sub-windows that overlap the window.
struct TierUse {
  Wide whole = 0;   ///< all but the oldest
  Wide oldest = 0;  ///< its content
};

inline TierUse use_of_tier(const Rate& rate, const std::vector<Charge>& charges, Instant now) {
  const std::int64_t length = to_us(rate.per) / 10;
  TierUse use;
  for (const Charge& charge : charges) {
    const std::int64_t age = to_us(now) / length - to_us(charge.at) / length;
    if (age < 10) use.whole += charge.units;
    if (age == 10) use.oldest += charge.units;
  }
  return use;
}

/// What `content` units of the oldest sub-window count for.
inline Wide counted_in_oldest(const Rate& rate, Wide content, Instant now) {
  const std::int64_t length = to_us(rate.per) / 10;
  const Wide in_proportion = ceil_wide(content * (length - to_us(now) % length), length);
  return std::max(in_proportion, content - ceil_wide(rate.count, 10));
}

/// Takes a refund from the charges of one tier. Units that do not count any more are dropped.
inline void refund_in_tier(const Rate& rate, std::vector<Charge>& charges, Instant now,
                           Wide units) {
  const auto age_of = [&](const Charge& charge) {
    return to_us(now) / (to_us(rate.per) / 10) - to_us(charge.at) / (to_us(rate.per) / 10);
  };
  std::erase_if(charges, [&](const Charge& charge) { return age_of(charge) > 10; });
  const TierUse use = use_of_tier(rate, charges, now);
  const Wide counted = counted_in_oldest(rate, use.oldest, now);
  const Wide taken = std::min(units, use.whole + counted);
  remove_newest(charges, std::min(taken, use.whole));
  Wide kept = use.oldest;
  // A unit at a time.
  for (Wide rest = taken - use.whole; rest > 0; --rest) {
    if (kept - 1 > ceil_wide(rate.count, 10)) {
      --kept;
      continue;
    }
    const Wide goal = counted_in_oldest(rate, kept, now) - rest;
    for (kept = 0; counted_in_oldest(rate, kept + 1, now) <= goal;)
      ++kept;
    break;
  }
  remove_newest(charges, use.oldest - kept);
}

/// One tier, from the log: whole sub-windows that overlap the window, the oldest in proportion.
inline std::int64_t left_in_tier(const Rate& rate, const std::vector<Charge>& all, Instant now) {
  std::vector<Charge> charges;
  for (const Charge& charge : all) {
    if (charge.units > 0) charges.push_back(charge);
    if (charge.units < 0) refund_in_tier(rate, charges, charge.at, -Wide{charge.units});
  }
  const TierUse use = use_of_tier(rate, charges, now);
  return static_cast<std::int64_t>(rate.count - use.whole -
                                   counted_in_oldest(rate, use.oldest, now));
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
