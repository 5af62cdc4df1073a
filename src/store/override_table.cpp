#include "store/override_table.hpp"

#include <algorithm>
#include <mutex>

namespace weir::store {
namespace {

bool has_ended(const Override& entry, Instant now) {
  return entry.until && *entry.until <= now;
}

Instant last_end_of(std::span<const Override> entries) {
  Instant last = Instant::min();
  for (const Override& entry : entries)
    last = std::max(last, entry.until.value_or(Instant::max()));
  return last;
}

void add_listed(const Hash128& identity, std::span<const Override> entries, Instant now,
                OverrideReport& to) {
  for (const Override& entry : entries) {
    if (has_ended(entry, now)) continue;
    to.overrides.push_back(
        {.identity = identity, .policy = entry.policy, .details = entry.details});
  }
}

}  // namespace

OverrideInForce OverrideTable::Reading::in_force(const Claim& claim, Instant now) const {
  const auto found = table_.identities_.find(claim.identity);
  if (found == table_.identities_.end()) return {};
  return store::in_force(found->second.overrides, claim.policy_id, *claim.policy,
                         table_.on_wall_clock(now));
}

void OverrideTable::put(const Hash128& identity, const Override& entry, Instant now, Done done) {
  std::vector<Identities::node_type> ended;
  Outcome outcome = Outcome::done;
  {
    const std::unique_lock lock(mutex_);
    auto found = identities_.find(identity);
    if (found == identities_.end() && identities_.size() >= most_identities)
      ended = take_ended(now);
    if (found == identities_.end() && identities_.size() < most_identities)
      found = identities_.try_emplace(identity).first;
    outcome = found == identities_.end() ? Outcome::no_room : add(found, entry, now);
  }
  done({.outcome = outcome});
}

/// Replaces the override of the same policy, or adds one. Those that have ended leave room.
OverrideTable::Outcome OverrideTable::add(Identities::iterator to, const Override& entry,
                                          Instant now) {
  auto& overrides = to->second.overrides;
  std::erase_if(overrides, [now](const Override& one) { return has_ended(one, now); });
  const auto same = std::ranges::find(overrides, entry.policy, &Override::policy);
  const bool fits = same != overrides.end() || overrides.size() < overrides_per_identity;
  if (same != overrides.end()) {
    *same = entry;
  } else if (fits) {
    overrides.push_back(entry);
  }
  update_end(to);
  return fits ? Outcome::done : Outcome::full;
}

void OverrideTable::remove(const Hash128& identity, const std::string& policy, Instant now,
                           Done done) {
  Outcome outcome = Outcome::absent;
  {
    const std::unique_lock lock(mutex_);
    if (const auto found = identities_.find(identity); found != identities_.end()) {
      std::erase_if(found->second.overrides, [&](const Override& one) {
        const bool is_removed = one.policy == policy && !has_ended(one, now);
        if (is_removed) outcome = Outcome::done;
        return is_removed || has_ended(one, now);
      });
      update_end(found);
    }
  }
  done({.outcome = outcome});
}

void OverrideTable::list(const std::optional<Hash128>& identity, Instant now, std::stop_token,
                         Done done) {
  OverrideReport report;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [owner, owned] : identities_) {
      if (!identity || owner == *identity) add_listed(owner, owned.overrides, now, report);
    }
  }
  done(std::move(report));
}

/// After a change of its overrides. An identity without one is erased.
void OverrideTable::update_end(Identities::iterator changed) {
  Owned& owned = changed->second;
  by_end_.erase(&*changed);
  owned.last_end = last_end_of(owned.overrides);
  if (owned.overrides.empty()) {
    identities_.erase(changed);
  } else {
    by_end_.insert(&*changed);
  }
  publish_last_end();
}

void OverrideTable::publish_last_end() {
  const Instant last = by_end_.empty() ? Instant::min() : (*by_end_.rbegin())->second.last_end;
  last_end_.store(last, std::memory_order_release);
}

/// The caller destroys them without the lock.
std::vector<OverrideTable::Identities::node_type> OverrideTable::take_ended(Instant now) {
  std::vector<Identities::node_type> ended;
  while (ended.size() < most_removed && !by_end_.empty() &&
         (*by_end_.begin())->second.last_end <= now) {
    const Hash128 identity = (*by_end_.begin())->first;
    by_end_.erase(by_end_.begin());
    ended.push_back(identities_.extract(identity));
  }
  publish_last_end();
  return ended;
}

void OverrideTable::remove_ended(Instant now) {
  std::vector<Identities::node_type> ended;
  const std::unique_lock lock(mutex_);
  ended = take_ended(now);
}

}  // namespace weir::store
