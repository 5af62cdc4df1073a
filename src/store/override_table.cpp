#include "store/override_table.hpp"

#include <algorithm>
#include <mutex>

namespace weir::store {
namespace {

using Outcome = OverrideReport::Outcome;

bool has_ended(const Override& entry, Instant now) {
  return entry.until && *entry.until <= now;
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
  const auto found = table_.entries_.find(claim.identity);
  if (found == table_.entries_.end()) return {};
  return store::in_force(found->second, claim.policy_id, *claim.policy, now);
}

void OverrideTable::put(const Hash128& identity, const Override& entry, Instant now, Done done) {
  std::unique_lock lock(mutex_);
  remove_ended(now);
  auto found = entries_.find(identity);
  if (found == entries_.end()) {
    if (entries_.size() == most_identities) {
      lock.unlock();
      return done({.outcome = Outcome::no_room});
    }
    found = entries_.try_emplace(identity).first;
  }
  Entries& entries = found->second;
  const auto same = std::ranges::find(entries, entry.policy, &Override::policy);
  Outcome outcome = Outcome::done;
  if (same != entries.end()) {
    *same = entry;
  } else if (entries.size() < overrides_per_identity) {
    entries.push_back(entry);
  } else {
    outcome = Outcome::full;
  }
  const OverrideReport report = changed(outcome);
  lock.unlock();
  done(report);
}

void OverrideTable::remove(const Hash128& identity, const std::string& policy, Instant now,
                           Done done) {
  std::unique_lock lock(mutex_);
  remove_ended(now);
  const auto found = entries_.find(identity);
  const bool removed =
      found != entries_.end() &&
      std::erase_if(found->second, [&](const Override& one) { return one.policy == policy; }) > 0;
  if (removed && found->second.empty()) entries_.erase(found);
  const OverrideReport report = changed(removed ? Outcome::done : Outcome::absent);
  lock.unlock();
  done(report);
}

void OverrideTable::list(const std::optional<Hash128>& identity, Instant now, Done done) {
  OverrideReport report;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [owner, entries] : entries_) {
      if (!identity || owner == *identity) add_listed(owner, entries, now, report);
    }
  }
  done(std::move(report));
}

OverrideReport OverrideTable::changed(Outcome outcome) {
  identities_.store(entries_.size(), std::memory_order_release);
  return {.outcome = outcome};
}

void OverrideTable::remove_ended(Instant now) {
  for (auto& [identity, entries] : entries_)
    std::erase_if(entries, [now](const Override& entry) { return has_ended(entry, now); });
  std::erase_if(entries_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace weir::store
