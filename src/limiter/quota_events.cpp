#include "limiter/quota_events.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "rules/span.hpp"

namespace weir::limiter {
namespace {

constexpr int whole_percent = 100;

bool is_at(std::int64_t used, std::int64_t limit, int percent) {
  static_assert(rules::exact_limit <= std::numeric_limits<std::int64_t>::max() / whole_percent);
  return used * whole_percent >= limit * percent;
}

/// Units that the request has charged or holds.
std::int64_t charged(const LimitVerdict& limit, Outcome outcome) {
  const bool is_denied = outcome == Outcome::denied || outcome == Outcome::forbidden;
  if (is_denied || !limit.decision.allowed)
    return limit.terms->numbers.count_rejected ? limit.cost : 0;
  return limit.cost;
}

std::int64_t used_of(const rules::Decision& decision) {
  return decision.limit - std::clamp<std::int64_t>(decision.remaining, 0, decision.limit);
}

/// A limit that counts the key in a window. Slots have none.
bool has_window(const LimitVerdict& limit) {
  using enum rules::OverrideEffect;
  const rules::Decision& decision = limit.decision;
  return decision.limit > 0 && decision.override_effect != unlimited &&
         decision.override_effect != denied && !is_concurrency(*limit.policy);
}

}  // namespace

bool reaches(const LimitVerdict& limit, Outcome outcome, int percent) {
  if (!has_window(limit)) return false;
  const std::int64_t used = used_of(limit.decision);
  if (!is_at(used, limit.decision.limit, percent)) return false;
  if (limit.policy->lease) return true;
  const std::int64_t before = std::max<std::int64_t>(used - charged(limit, outcome), 0);
  return !is_at(before, limit.decision.limit, percent);
}

/// Returns false if the mark is there already.
bool QuotaEvents::mark(const QuotaEvent& event) {
  if (sets_.empty()) sets_.resize(sets);
  constexpr std::uint32_t odd = 0x9e3779b9;  // marks of a key differ in all bits
  const std::uint64_t hash = hash_(
      event.key.identity, event.key.policy_id + static_cast<std::uint32_t>(event.percent) * odd);
  Set& set = sets_[hash & (sets - 1)];
  auto entry = std::ranges::find(set, hash, &Mark::hash);
  if (entry != set.end() && event.at < entry->until) return false;
  if (entry == set.end()) entry = std::ranges::min_element(set, {}, &Mark::until);
  *entry = {.hash = hash, .until = event.at + event.whole_after};
  return true;
}

void QuotaEvents::raise(const QuotaEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!mark(event)) return;
  raised_.fetch_add(1);  // before `dropped_`, which a reader reads first
  if (pending_.size() < most_pending) {
    pending_.push_back(event);
  } else {
    dropped_.fetch_add(1);
  }
}

std::vector<QuotaEvent> QuotaEvents::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(pending_, {});
}

void raise_events(const Verdict& verdict, std::span<const int> percents, const Limiter& limiter,
                  Instant asked_at, QuotaEvents& to) {
  for (const LimitVerdict& limit : verdict.limits) {
    for (const int percent : percents) {
      if (!reaches(limit, verdict.outcome, percent)) continue;
      const rules::Decision& decision = limit.decision;
      to.raise(
          {.key = {.identity = limit.identity, .policy_id = limiter.record_of(*limit.policy).id},
           .percent = percent,
           .used = used_of(decision),
           .limit = decision.limit,
           .whole_after = decision.reset_after,
           .at = asked_at});
    }
  }
}

}  // namespace weir::limiter
