#include "store/denial_memory.hpp"

#include <algorithm>
#include <tuple>

namespace weir::store {

const DenialMemory::Entry* DenialMemory::find(const Key& key) const {
  const Set& set = sets_[position(key.identity, key.policy_id)];
  const auto* const entry = std::ranges::find(set, key, &Entry::key);
  return entry == set.end() ? nullptr : entry;
}

DenialMemory::Entry* DenialMemory::find(const Key& key) {
  Set& set = sets_[position(key.identity, key.policy_id)];
  auto* const entry = std::ranges::find(set, key, &Entry::key);
  return entry == set.end() ? nullptr : entry;
}

void DenialMemory::remember(const Claim& claim, const Reply& reply) {
  if (refresh(claim, reply)) return;
  // Replaces an entry without further use, else an admission, which is only kept for the response,
  // else the denial that expires first. asking() uses a denial for `longest` after its expiry.
  const auto worth = [&](const Entry& one) {
    return std::tuple(one.until + longest > reply.exchange.answered_at, one.denies, one.until);
  };
  const Key key = key_of(claim);
  Entry& entry = *std::ranges::min_element(sets_[position(key.identity, key.policy_id)], {}, worth);
  entry = {};
  entry.key = key;
  write(entry, claim, reply);
}

bool DenialMemory::refresh(const Claim& claim, const Reply& reply) {
  const Key key = key_of(claim);
  bool is_kept = false;
  for (Entry& entry : sets_[position(key.identity, key.policy_id)]) {
    if (entry.key.policy_id != key.policy_id || entry.key.identity != key.identity) continue;
    if (entry.key.revision == key.revision) {
      write(entry, claim, reply);
      is_kept = true;
    } else if (reply.charged) {
      entry = {};  // by the numbers of another revision, the state is unknown now
    }
  }
  return is_kept;
}

void DenialMemory::write(Entry& entry, const Claim& claim, const Reply& reply) const {
  const rules::Decision& decision = reply.decision;
  const Exchange& exchange = reply.exchange;
  // A state from before a change of overrides has nothing to add to this one.
  if (!is_used(entry, exchange.answered_at, exchange.answered_at)) entry.state = {};
  entry.state.update(claim, decision, exchange, reply.charged);
  const auto denied_until = entry.state.denied_until(claim);
  entry.denies = denied_until.has_value();
  entry.until =
      std::min(denied_until.value_or(Instant::max()),
               exchange.sent_at + std::min(decision.ends_after.value_or(longest), longest));
}

std::optional<rules::Decision> DenialMemory::recall(const Claim& claim, Instant now,
                                                    Instant arrived_at) const {
  const Entry* const entry = find(key_of(claim));
  if (entry == nullptr || !is_used(*entry, now, arrived_at)) return std::nullopt;
  return entry->state.decide(claim, now);
}

Flight** DenialMemory::asking(const Claim& claim, Instant now) {
  Entry* const entry = find(key_of(claim));
  if (entry == nullptr) return nullptr;
  const auto denied_until = entry->state.denied_until(claim);
  if (!denied_until) return nullptr;
  const Instant until = std::min(*denied_until, entry->state.sent_at() + longest);
  return now < until + longest ? &entry->asking : nullptr;
}

void DenialMemory::land(const Key& key, const Flight& flight) {
  Entry* const entry = find(key);
  if (entry != nullptr && entry->asking == &flight) entry->asking = nullptr;
}

bool DenialMemory::may_ask_for_others(const Claim& claim, Instant now) const {
  const Entry* const entry = find(key_of(claim));
  return entry == nullptr || entry->questions < questions_limit ||
         now >= entry->questions_since + questions_interval;
}

void DenialMemory::count_question(const Claim& claim, Instant now) {
  Entry* const entry = find(key_of(claim));
  if (entry == nullptr) return;
  if (now >= entry->questions_since + questions_interval) {
    entry->questions_since = now;
    entry->questions = 0;
  }
  ++entry->questions;
}

void DenialMemory::discard(const Hash128& identity, std::uint32_t policy_id, Instant at) {
  forget(identity, policy_id);
  Instant& discarded_at = discarded_in_set_at_[position(identity, policy_id)];
  discarded_at = std::max(discarded_at, at);
  key_discarded_at_ = std::max(key_discarded_at_, at);
}

void DenialMemory::forget(const Hash128& identity, std::uint32_t policy_id) {
  for (Entry& entry : sets_[position(identity, policy_id)]) {
    if (entry.key.identity == identity && entry.key.policy_id == policy_id) entry = {};
  }
}

}  // namespace weir::store
