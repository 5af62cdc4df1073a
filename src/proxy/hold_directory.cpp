#include "proxy/hold_directory.hpp"

#include <cstring>
#include <iterator>

namespace weir::proxy {

HoldDirectory::HoldDirectory(SipKey secret, std::size_t most) : secret_(secret), most_(most) {}

std::optional<Hash128> HoldDirectory::add(limiter::HeldUnits& units, const Terms& terms) {
  const std::lock_guard lock(mutex_);
  if (holds_.size() >= most_) return std::nullopt;
  char number[sizeof next_];
  std::memcpy(number, &++next_, sizeof next_);
  const Hash128 id = siphash128(secret_, {number, sizeof number});
  std::list<KeptHold> added(1);
  // If there is no memory for the hold, its lease is ignored.
  leases_.emplace(terms.lease_ends_at, id);
  holds_.emplace(id, added.begin());
  added.front() = {.generation = Pin(terms.generation),
                   .units = std::move(units),
                   .lease_ends_at = terms.lease_ends_at,
                   .owner = &terms.owner};
  kept_.splice(kept_.end(), added);
  return id;
}

void HoldDirectory::end_leases(Instant now) {
  constexpr int most_at_once = 100;  // so that decisions of other workers do not wait for the lock
  bool has_more = true;
  while (has_more) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < most_at_once && has_more; ++i)
      has_more = end_first_lease(now);
  }
}

/// Returns false if no lease has ended.
bool HoldDirectory::end_first_lease(Instant now) {
  if (leases_.empty() || leases_.begin()->first > now) return false;
  const auto found = holds_.find(leases_.begin()->second);
  if (found == holds_.end()) {
    leases_.erase(leases_.begin());
    return true;
  }
  end_lease(found);
  return true;
}

void HoldDirectory::end_all(HoldOwner& owner) {
  const std::lock_guard lock(mutex_);
  for (auto hold = holds_.begin(); hold != holds_.end();) {
    const auto next = std::next(hold);
    if (hold->second->owner == &owner) end_lease(hold);
    hold = next;
  }
}

std::list<KeptHold> HoldDirectory::take_ended(HoldOwner& owner) {
  std::list<KeptHold> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(owner.ended_);
  return ended;
}

void HoldDirectory::withdraw(HoldOwner& owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(holds_, [&](const auto& one) {
    const auto hold = one.second;
    if (hold->owner != &owner) return false;
    leases_.erase({hold->lease_ends_at, one.first});
    kept_.erase(hold);
    return true;
  });
  owner.ended_.clear();
}

std::size_t HoldDirectory::size() const {
  const std::lock_guard lock(mutex_);
  return holds_.size();
}

void HoldDirectory::end_lease(Holds::iterator hold) {
  limiter::end(hold->second->units, {.lease_has_ended = true});
  end(hold);
}

/// Passes a hold whose charge is computed to its owner, which is called unless it is `by`.
/// Allocates nothing.
void HoldDirectory::end(Holds::iterator hold, const HoldOwner* by) {
  const auto [id, kept] = *hold;
  leases_.erase({kept->lease_ends_at, id});
  holds_.erase(hold);
  HoldOwner& owner = *kept->owner;
  const bool is_first = owner.ended_.empty();
  owner.ended_.splice(owner.ended_.end(), kept_, kept);
  if (is_first && &owner != by) owner.wake();
}

}  // namespace weir::proxy
