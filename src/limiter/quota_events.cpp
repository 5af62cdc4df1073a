#include "limiter/quota_events.hpp"

#include <algorithm>
#include <limits>

#include "rules/span.hpp"

namespace weir::limiter {
namespace {

constexpr int whole_percent = 100;

bool is_at(std::int64_t used, std::int64_t limit, int percent) {
  static_assert(rules::exact_limit <= std::numeric_limits<std::int64_t>::max() / whole_percent);
  return used * whole_percent >= limit * percent;
}

std::int64_t used_of(const rules::Decision& decision) {
  return decision.limit - std::clamp<std::int64_t>(decision.remaining, 0, decision.limit);
}

bool has_fixed_windows(const Policy& policy) {
  return policy.numbers.algorithm == rules::Algorithm::fixed_window ||
         policy.numbers.algorithm == rules::Algorithm::attributed_window;
}

}  // namespace

bool is_reached(const LimitVerdict& limit, int percent) {
  using enum rules::OverrideEffect;
  const rules::Decision& decision = limit.decision;
  if (decision.limit <= 0 || decision.override_effect == unlimited ||
      decision.override_effect == denied)
    return false;
  return is_at(used_of(decision), decision.limit, percent);
}

EventWindow event_window(const LimitVerdict& limit, Instant asked_at) {
  const rules::Decision& decision = limit.decision;
  if (is_concurrency(*limit.policy))
    return {.ends_at = asked_at + slot_event_window, .earlier_until = asked_at};
  const Duration length =
      std::max(decision.refill.value_or(limit.terms->numbers.refill), Duration{1});
  if (!has_fixed_windows(*limit.policy))
    return {.ends_at = asked_at + length, .earlier_until = asked_at};
  const Instant ends_at = asked_at + decision.reset_after;
  return {.ends_at = ends_at, .earlier_until = ends_at - length / 2};
}

std::uint64_t QuotaEvents::hash_of(const store::Key& key, int percent) const {
  constexpr std::uint32_t odd = 0x9e3779b9;  // marks of a key differ in all bits
  return hash_(key.identity, key.policy_id + static_cast<std::uint32_t>(percent) * odd);
}

QuotaEvents::Mark* QuotaEvents::find(std::uint64_t hash) const {
  Set* const table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  Set& set = table[hash & (sets - 1)];
  const auto found = std::ranges::find_if(
      set, [hash](const Mark& mark) { return mark.hash.load(std::memory_order_acquire) == hash; });
  return found == set.end() ? nullptr : found;
}

bool QuotaEvents::is_marked(const QuotaEvent& event) const {
  const Mark* const mark = find(hash_of(event.key, event.percent));
  return mark != nullptr &&
         mark->ends_us.load(std::memory_order_relaxed) > to_us(event.window.earlier_until);
}

/// With the lock. Returns false if its set has no room.
bool QuotaEvents::mark(const QuotaEvent& event, Instant ends_at) {
  if (memory_ == nullptr) {
    memory_ = std::make_unique<Set[]>(sets);
    table_.store(memory_.get(), std::memory_order_release);
  }
  const std::uint64_t hash = hash_of(event.key, event.percent);
  Mark* mark = find(hash);
  if (mark == nullptr) {
    mark = std::ranges::min_element(memory_[hash & (sets - 1)], {},
                                    [](const Mark& one) { return one.ends_us.load(); });
    if (mark->ends_us > to_us(event.at)) return false;
    mark->ends_us = 0;
    mark->hash = hash;
  }
  mark->ends_us = to_us(ends_at);
  return true;
}

void QuotaEvents::raise(const QuotaEvent& event) {
  if (is_marked(event)) return;
  const std::lock_guard lock(mutex_);
  if (is_marked(event)) return;
  if (mark(event, event.window.ends_at) && pending_.size() < most_pending) {
    pending_.push_back(event);
  } else {
    ++counts_[{event.key.policy_id, event.percent}][static_cast<std::size_t>(EventResult::dropped)];
  }
}

std::vector<QuotaEvent> QuotaEvents::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(std::min(most, pending_.size()));
  std::vector<QuotaEvent> taken(pending_.begin(), end);
  pending_.erase(pending_.begin(), end);
  return taken;
}

void QuotaEvents::adopt(const QuotaEvent& event, Instant ends_at) {
  const std::lock_guard lock(mutex_);
  mark(event, ends_at);
}

void QuotaEvents::forget(const store::Key& key) {
  const std::lock_guard lock(mutex_);
  for (int percent = 1; percent <= whole_percent; ++percent) {
    if (Mark* const mark = find(hash_of(key, percent))) mark->ends_us = 0;
  }
}

void QuotaEvents::forget_all() {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) return;
  for (Set& set : std::span(memory_.get(), sets)) {
    for (Mark& mark : set)
      mark.ends_us = 0;
  }
}

void QuotaEvents::count(const QuotaEvent& event, EventResult result) {
  const std::lock_guard lock(mutex_);
  ++counts_[{event.key.policy_id, event.percent}][static_cast<std::size_t>(result)];
}

EventCounts QuotaEvents::counts(std::uint32_t policy_id, int percent) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find({policy_id, percent});
  return found == counts_.end() ? EventCounts{} : found->second;
}

void raise_events(const Verdict& verdict, std::span<const int> percents, const EventSource& source,
                  QuotaEvents& to) {
  for (const LimitVerdict& limit : verdict.limits) {
    for (const int percent : percents) {
      if (!is_reached(limit, percent)) break;  // the higher ones are not either
      to.raise({.key = {.identity = limit.identity,
                        .policy_id = source.limiter.record_of(*limit.policy).id},
                .identity_id = source.ids.identity(limit.identity_index),
                .percent = percent,
                .used = used_of(limit.decision),
                .limit = limit.decision.limit,
                .counts_slots = is_concurrency(*limit.policy),
                .whole_after = limit.decision.reset_after,
                .at = source.asked_at,
                .window = event_window(limit, source.asked_at)});
    }
  }
}

}  // namespace weir::limiter
