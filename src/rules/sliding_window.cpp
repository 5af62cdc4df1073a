#include "rules/sliding_window.hpp"

#include <algorithm>
#include <utility>

#include "rules/span.hpp"

namespace weir::rules {

namespace {

std::int64_t length_of(const Rate& rate) {
  return to_us(rate.per) / sub_windows;
}

/// The units that the oldest sub-window may be forgiven before it has left completely.
std::int64_t largest_sub_window(const Rate& rate) {
  return ceil_div(rate.count, sub_windows);
}

void add_units(std::uint32_t& counter, std::int64_t units) {
  const std::int64_t room = sub_window_count_limit - std::int64_t{counter};
  counter += static_cast<std::uint32_t>(std::min(units, room));
}

/// Sub-window number n begins at n * length.
std::int64_t newest_of(const TierCounters& tier) {
  return floor_div(to_us(tier.latest), tier.length_us);
}

/// Converts counters of another sub-window length, after a reload: each moves to the sub-window of
/// its last instant.
TierCounters relaid(const TierCounters& old, std::int64_t length) {
  const std::int64_t newest = floor_div(to_us(old.latest), length);
  TierCounters tier{.length_us = length, .latest = old.latest};
  for (std::int64_t age = 0; age <= sub_windows; ++age) {
    const std::int64_t end_us = (newest_of(old) - age + 1) * old.length_us;
    const std::int64_t number = floor_div(std::min(end_us - 1, to_us(old.latest)), length);
    if (newest - number > sub_windows) break;
    add_units(tier.used[static_cast<std::size_t>(newest - number)],
              old.used[static_cast<std::size_t>(age)]);
  }
  return tier;
}

/// The tier's counters as written, in sub-windows of the current length.
TierCounters stored(const Rate& rate, const SlidingWindowState& state, std::size_t index) {
  const std::int64_t length = length_of(rate);
  if (index >= state.tiers.size()) return {.length_us = length};
  const TierCounters& tier = state.tiers[index];
  return tier.length_us == length ? tier : relaid(tier, length);
}

/// The tier's counters as they are at `now`; an earlier `now` changes nothing.
TierCounters advanced(const Rate& rate, const SlidingWindowState& state, std::size_t index,
                      Instant now) {
  TierCounters tier = stored(rate, state, index);
  if (now <= tier.latest) return tier;
  const std::int64_t passed = floor_div(to_us(now), tier.length_us) - newest_of(tier);
  const auto shift = std::min<std::int64_t>(passed, std::ssize(tier.used));
  std::shift_right(tier.used.begin(), tier.used.end(), shift);
  std::fill_n(tier.used.begin(), shift, 0U);
  tier.latest = now;
  return tier;
}

/// The units of the oldest sub-window that no longer count.
std::int64_t forgiven(const Rate& rate, const TierCounters& tier) {
  const std::int64_t oldest = tier.used.back();
  if (oldest == 0) return 0;
  const std::int64_t passed = to_us(tier.latest) - newest_of(tier) * tier.length_us;
  const Quotient left = divide_product(passed, oldest, 0, tier.length_us / oldest,
                                       tier.length_us % oldest, tier.length_us);
  return std::min(left.whole, largest_sub_window(rate));
}

std::int64_t used_of(const Rate& rate, const TierCounters& tier) {
  std::int64_t sum = -forgiven(rate, tier);
  for (const std::uint32_t used : tier.used)
    sum += used;
  return sum;
}

/// Takes units that count from the newest sub-windows, at last from the oldest one.
void take_back(const Rate& rate, TierCounters& tier, std::int64_t units) {
  std::int64_t rest = std::min(units, used_of(rate, tier));
  for (std::size_t age = 0; age < static_cast<std::size_t>(sub_windows); ++age) {
    const std::int64_t taken = std::min<std::int64_t>(rest, tier.used[age]);
    tier.used[age] -= static_cast<std::uint32_t>(taken);
    rest -= taken;
  }
  if (rest == 0) return;
  // Only the oldest is left. It counts at most a share less than its content, and the content after
  // the refund must not count less than that either. So while more than a share stays, each unit
  // takes one of the content. Then it becomes the largest content of which `goal` units count.
  std::uint32_t& oldest = tier.used.back();
  const std::int64_t above = std::int64_t{oldest} - largest_sub_window(rate) - 1;
  const std::int64_t taken = std::clamp<std::int64_t>(above, 0, rest);
  oldest -= static_cast<std::uint32_t>(taken);
  rest -= taken;
  if (rest == 0) return;
  const std::int64_t goal = used_of(rate, tier) - rest;
  std::uint32_t low = 0;
  for (std::uint32_t high = oldest; low < high;) {
    oldest = low + (high - low + 1) / 2;
    if (used_of(rate, tier) <= goal) {
      low = oldest;
    } else {
      high = oldest - 1;
    }
  }
  oldest = low;
}

/// The first instant at which at most `units` of the tier still count. Starts at the oldest
/// sub-window; the result may be in the past.
Instant falls_to(const Rate& rate, const TierCounters& tier, std::int64_t units) {
  std::int64_t excess = -units;
  for (const std::uint32_t used : tier.used)
    excess += used;
  for (std::int64_t age = sub_windows; age >= 0 && excess > 0; --age) {
    const std::int64_t held = tier.used[static_cast<std::size_t>(age)];
    if (held < excess) {
      excess -= held;
      continue;
    }
    const std::int64_t leaving = (newest_of(tier) - age + sub_windows) * tier.length_us;
    if (excess > largest_sub_window(rate)) return instant_from_us(leaving + tier.length_us);
    const std::int64_t length_part = tier.length_us % held;
    return instant_from_us(leaving + excess * (tier.length_us / held) +
                           ceil_div(excess * length_part, held));
  }
  return Instant{};
}

/// The first instant at which at most `units_of(rate)` count in every tier.
template <class UnitsOf>
Instant all_fall_to(const Policy& policy, const SlidingWindowState& state, Instant now,
                    UnitsOf units_of) {
  Instant at = now;
  for (std::size_t i = 0; i < policy.rates.size(); ++i) {
    const Rate& rate = policy.rates[i];
    at = std::max(at, falls_to(rate, advanced(rate, state, i, now), units_of(rate)));
  }
  return at;
}

std::int64_t left_of_all_tiers(const Policy& policy, const SlidingWindowState& state, Instant now) {
  std::int64_t left = policy.capacity;
  for (std::size_t i = 0; i < policy.rates.size(); ++i) {
    const Rate& rate = policy.rates[i];
    left = std::min(left, rate.count - used_of(rate, advanced(rate, state, i, now)));
  }
  return std::max<std::int64_t>(left, 0);
}

}  // namespace

Admission admit(const Policy& policy, const SlidingWindowState& state, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const std::int64_t left = left_of_all_tiers(policy, state, now);
  if (cost <= left) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = left};
  if (cost > policy.capacity) return {};
  const auto room = [&](const Rate& rate) { return rate.count - cost; };
  return {.retry_after = all_fall_to(policy, state, now, room) - now};
}

void charge(const Policy& policy, SlidingWindowState& state, Instant now, std::int64_t units) {
  if (units <= 0) return;
  for (std::size_t i = 0; i < policy.rates.size(); ++i) {
    TierCounters tier = advanced(policy.rates[i], state, i, now);
    add_units(tier.used.front(), std::min(units, policy.capacity));
    if (i < state.tiers.size()) {
      state.tiers[i] = tier;
    } else {
      state.tiers.reserve(policy.rates.size());
      state.tiers.push_back(tier);
    }
  }
  state.tiers.resize(policy.rates.size());
}

void refund(const Policy& policy, SlidingWindowState& state, Instant now, std::int64_t units) {
  if (units <= 0 || state.tiers.empty()) return;
  SlidingWindowState after;
  after.tiers.reserve(policy.rates.size());
  bool is_used = false;
  for (std::size_t i = 0; i < policy.rates.size(); ++i) {
    TierCounters& tier = after.tiers.emplace_back(advanced(policy.rates[i], state, i, now));
    is_used = is_used || used_of(policy.rates[i], tier) > 0;
    take_back(policy.rates[i], tier, units);
  }
  if (is_used) state = std::move(after);
}

Level level(const Policy& policy, const SlidingWindowState& state, Instant now) {
  const std::int64_t left = left_of_all_tiers(policy, state, now);
  const auto none = [](const Rate&) { return std::int64_t{0}; };
  Level result{.remaining = left, .reset_after = all_fall_to(policy, state, now, none) - now};
  if (left < policy.capacity) {
    const auto one_more = [&](const Rate& rate) { return rate.count - left - 1; };
    result.more_after = all_fall_to(policy, state, now, one_more) - now;
  }
  return result;
}

Instant whole_at(const Policy& policy, const SlidingWindowState& state) {
  Instant at{};
  for (std::size_t i = 0; i < policy.rates.size(); ++i) {
    at = std::max(at, falls_to(policy.rates[i], stored(policy.rates[i], state, i), 0));
  }
  return at;
}

}  // namespace weir::rules
