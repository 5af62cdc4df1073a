#include "rules/sliding_log.hpp"

#include <algorithm>

namespace weir::rules {

namespace {

std::int64_t total_of(const SlidingLogState& state) {
  return state.entries.empty() ? state.dropped : state.entries.back().total;
}

/// A `now` before the newest entry is read as that entry's instant.
Instant latest(const SlidingLogState& state, Instant now) {
  return state.entries.empty() ? now : std::max(now, state.entries.back().at);
}

/// At most the newest `quota` units count: with count_rejected more may be in the window.
std::int64_t use_at(const Policy& policy, const SlidingLogState& state, Instant now) {
  const Instant at = latest(state, now);
  const auto live = std::partition_point(
      state.entries.begin(), state.entries.end(),
      [&](const LogEntry& entry) { return entry.at + policy.rates[0].per <= at; });
  const std::int64_t before =
      live == state.entries.begin() ? state.dropped : std::prev(live)->total;
  return std::min(total_of(state) - before, policy.capacity);
}

/// The first instant at which at most `units` of the log still count; `units` is below the count
/// now.
Instant use_falls_to(const Policy& policy, const SlidingLogState& state, std::int64_t units) {
  const std::int64_t gone = total_of(state) - units;
  const auto last = std::partition_point(state.entries.begin(), state.entries.end(),
                                         [&](const LogEntry& entry) { return entry.total < gone; });
  return last->at + policy.rates[0].per;
}

/// The first instant at which a denied `cost` passes. With count_rejected this denial is logged
/// too, and if both do not fit together, it must have left the window.
Instant passes_at(const Policy& policy, const SlidingLogState& state, Instant now,
                  std::int64_t cost) {
  if (!policy.count_rejected) return use_falls_to(policy, state, policy.capacity - cost);
  if (2 * cost <= policy.capacity) return use_falls_to(policy, state, policy.capacity - 2 * cost);
  return latest(state, now) + policy.rates[0].per;
}

/// Drops entries that are out of the window or older than the newest `quota` units. It drops half a
/// log at a time, so that a charge costs O(1).
void drop_dead(const Policy& policy, SlidingLogState& state, Instant now) {
  const std::int64_t irrelevant = total_of(state) - policy.capacity;
  const auto alive =
      std::partition_point(state.entries.begin(), state.entries.end(), [&](const LogEntry& entry) {
        return entry.at + policy.rates[0].per <= now || entry.total <= irrelevant;
      });
  const auto dead = alive - state.entries.begin();
  if (dead == 0 || 2 * dead < std::ssize(state.entries)) return;
  state.dropped = std::prev(alive)->total;
  state.entries.erase(state.entries.begin(), alive);
  if (state.entries.empty()) state.dropped = 0;
}

}  // namespace

Admission admit(const Policy& policy, const SlidingLogState& state, Instant now, Demand demand) {
  const std::int64_t cost = std::max<std::int64_t>(demand.cost, 0);
  const std::int64_t left = policy.capacity - use_at(policy, state, now);
  if (cost <= left) return {.allowed = true, .units = cost};
  if (demand.overdraft) return {.allowed = true, .units = left};
  if (cost > policy.capacity) return {};
  return {.retry_after = passes_at(policy, state, now, cost) - now};
}

void charge(const Policy& policy, SlidingLogState& state, Instant now, std::int64_t units) {
  if (units <= 0) return;
  const std::int64_t total = total_of(state) + std::min(units, policy.capacity);
  const Instant at = latest(state, now);
  if (!state.entries.empty() && at == state.entries.back().at) {
    state.entries.back().total = total;
  } else {
    state.entries.push_back({.at = at, .total = total});
  }
  drop_dead(policy, state, at);
}

void refund(const Policy& policy, SlidingLogState& state, Instant now, std::int64_t units) {
  const std::int64_t used = use_at(policy, state, now);
  if (units <= 0 || used == 0) return;
  // Entries that do not count now must not count again, although there is room for them.
  const std::int64_t before = total_of(state) - used;
  const std::int64_t total = total_of(state) - std::min(units, used);
  auto& entries = state.entries;
  const auto first_above = [&](std::int64_t goal) {
    return std::partition_point(entries.begin(), entries.end(),
                                [&](const LogEntry& entry) { return entry.total <= goal; });
  };
  entries.erase(entries.begin(), first_above(before));
  state.dropped = before;
  if (total == before) {
    state = {};
    return;
  }
  entries.erase(std::next(first_above(total - 1)), entries.end());
  entries.back().total = total;
}

Level level(const Policy& policy, const SlidingLogState& state, Instant now) {
  const std::int64_t used = use_at(policy, state, now);
  if (used == 0) return {.remaining = policy.capacity};
  return {.remaining = policy.capacity - used,
          .reset_after = use_falls_to(policy, state, 0) - now,
          .more_after = use_falls_to(policy, state, used - 1) - now};
}

Instant whole_at(const Policy& policy, const SlidingLogState& state) {
  return state.entries.empty() ? Instant{} : state.entries.back().at + policy.rates[0].per;
}

}  // namespace weir::rules
