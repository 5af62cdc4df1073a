#include "store/denial_memory.hpp"

#include <algorithm>
#include <tuple>

namespace weir::store {

std::optional<rules::Decision> decision_after(const rules::Decision& decision, std::int64_t cost) {
  if (!decision.allowed || decision.remaining >= cost) return decision;
  if (decision.remaining + 1 < cost) return std::nullopt;
  return rules::Decision{.allowed = false,
                         .limit = decision.limit,
                         .remaining = decision.remaining,
                         .reset_after = decision.reset_after,
                         .more_after = decision.more_after,
                         .retry_after = decision.more_after,
                         .override_effect = decision.override_effect,
                         .refill = decision.refill,
                         .ends_after = decision.ends_after};
}

void DenialMemory::remember(const Key& key, const rules::Decision& decision, Instant sent_at,
                            Instant answered_at) {
  Set& set = sets_[position(key.identity, key.policy_id)];
  auto* entry = std::ranges::find(set, key, &Entry::key);
  if (entry == set.end()) {
    // Replaces an entry without further use, else an admission, which is only kept for the
    // response, else the denial that expires first. asking() uses a denial for `longest` after its
    // expiry.
    const auto worth = [answered_at](const Entry& one) {
      return std::tuple(one.until + longest > answered_at, !one.allowed, one.until);
    };
    entry = std::ranges::min_element(set, {}, worth);
  }

  const Duration holds =
      std::min(decision.allowed ? longest : decision.retry_after.value_or(longest),
               decision.ends_after.value_or(longest));
  *entry = {.key = key,
            .allowed = decision.allowed,
            .is_final = !decision.allowed && !decision.retry_after,
            .override_effect = decision.override_effect,
            .until = sent_at + std::min(holds, longest),
            .sent_at = sent_at,
            .answered_at = answered_at,
            .limit = decision.limit,
            .remaining = decision.remaining,
            .reset_after = decision.reset_after,
            .more_after = decision.more_after,
            .retry_after = decision.retry_after.value_or(Duration{0}),
            .refill = decision.refill};
}

std::optional<rules::Decision> DenialMemory::recall(const Key& key, Instant now,
                                                    Instant arrived_at) const {
  const Set& set = sets_[position(key.identity, key.policy_id)];
  const auto* const entry = std::ranges::find(set, key, &Entry::key);
  if (entry == set.end() || !is_used(*entry, now, arrived_at)) return std::nullopt;

  // The durations count from an instant before answered_at, so no more than this is left of them.
  const Duration elapsed = std::max(now - entry->answered_at, Duration{0});
  const auto rest_of = [&](Duration duration) { return std::max(duration - elapsed, Duration{0}); };
  // More than `remaining` may be available by now, but not all of it: more_after is not 0.
  const Duration shortest_wait = entry->more_after > Duration{0} ? Duration{1} : Duration{0};
  rules::Decision decision{.allowed = entry->allowed,
                           .limit = entry->limit,
                           .remaining = entry->remaining,
                           .reset_after = rest_of(entry->reset_after),
                           .more_after = std::max(rest_of(entry->more_after), shortest_wait),
                           .override_effect = entry->override_effect,
                           .refill = entry->refill};
  if (!entry->allowed && !entry->is_final) decision.retry_after = rest_of(entry->retry_after);
  return decision;
}

Flight** DenialMemory::asking(const Key& key, Instant now, Instant arrived_at) {
  Set& set = sets_[position(key.identity, key.policy_id)];
  auto* const entry = std::ranges::find(set, key, &Entry::key);
  if (entry == set.end() || entry->allowed) return nullptr;
  return !is_used(*entry, now, arrived_at) && now < entry->until + longest ? &entry->asking
                                                                           : nullptr;
}

void DenialMemory::land(const Key& key, const Flight& flight, bool left) {
  Set& set = sets_[position(key.identity, key.policy_id)];
  auto* const entry = std::ranges::find(set, key, &Entry::key);
  if (entry == set.end() || entry->asking != &flight) return;
  entry->asking = nullptr;
  if (left) *entry = {};
}

void DenialMemory::forget(const Hash128& identity, std::uint32_t policy_id) {
  for (Entry& entry : sets_[position(identity, policy_id)]) {
    if (entry.key.identity == identity && entry.key.policy_id == policy_id) entry = {};
  }
}

}  // namespace weir::store
