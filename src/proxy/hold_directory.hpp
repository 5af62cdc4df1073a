// The holds of requests that Weir has admitted for another proxy, until that proxy settles them or
// their lease ends.
//
// The settlement may arrive at any worker, so all workers share one directory, with one lock. The
// worker that has admitted the request applies it: a hold in the directory belongs to its keeper. A
// hold can be settled by anybody who has its id, which only the answer to the other proxy contains.
// Time is an argument. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/held_units.hpp"
#include "proxy/generation.hpp"

namespace weir::proxy {

class HoldOwner;

struct KeptHold {
  Pin generation;  ///< that admitted the request
  limiter::HeldUnits units;
  Instant lease_ends_at{};
  HoldOwner* owner = nullptr;
};

/// The part of a worker that applies the settlements of its holds. Withdraws from the directory
/// before it is destroyed.
class HoldOwner {
 public:
  HoldOwner() = default;
  HoldOwner(const HoldOwner&) = delete;
  HoldOwner& operator=(const HoldOwner&) = delete;

 protected:
  virtual ~HoldOwner() = default;

 private:
  friend class HoldDirectory;
  /// Requests a call of HoldDirectory::take_ended(), when the first hold has ended since the last
  /// one. Called on any thread with the directory locked. May fail: the owner also calls it once a
  /// second.
  virtual void wake() noexcept = 0;

  std::list<KeptHold> ended_;  ///< of the directory: not applied yet
};

class HoldDirectory {
 public:
  /// `secret` makes the ids unpredictable. `most`: the number of holds that are kept.
  explicit HoldDirectory(SipKey secret, std::size_t most = 100'000);
  HoldDirectory(const HoldDirectory&) = delete;
  HoldDirectory& operator=(const HoldDirectory&) = delete;

  /// The lease of a hold, and what it belongs to.
  struct Terms {
    Generation& generation;
    Instant lease_ends_at;
    HoldOwner& owner;
  };
  /// Takes over the units and returns the id of the hold. Empty: the directory is full. `units` are
  /// unchanged then, and if there is no memory.
  std::optional<Hash128> add(limiter::HeldUnits& units, const Terms& terms);
  /// Settles a hold: `compute`, which takes its limiter::HeldUnits&, ends them with the directory
  /// locked. `by` then applies what has ended of its own, without a call of wake(). False: there is
  /// no such hold, because it was settled, or its lease has ended.
  template <class Compute>
  bool settle(const Hash128& id, const HoldOwner& by, Compute&& compute) {
    const std::lock_guard lock(mutex_);
    const auto found = holds_.find(id);
    if (found == holds_.end()) return false;
    compute(found->second->units);
    end(found, &by);
    return true;
  }
  /// Ends the holds whose lease is over at `now`: they are charged what was held, those of
  /// reservations nothing.
  void end_leases(Instant now);
  /// Ends all holds of an owner that stops, as if their leases were over.
  void end_all(HoldOwner& owner);
  /// Returns the holds of this owner that have ended; it applies each of them once.
  std::list<KeptHold> take_ended(HoldOwner& owner);
  /// Removes all holds of the owner. They are not settled.
  void withdraw(HoldOwner& owner);

  std::size_t size() const;

 private:
  struct IdHash {
    std::size_t operator()(const Hash128& id) const { return static_cast<std::size_t>(id.low); }
  };
  using Holds = std::unordered_map<Hash128, std::list<KeptHold>::iterator, IdHash>;

  bool end_first_lease(Instant now);
  void end_lease(Holds::iterator hold);
  void end(Holds::iterator hold, const HoldOwner* by = nullptr);

  mutable std::mutex mutex_;
  const SipKey secret_;
  const std::size_t most_;
  std::uint64_t next_ = 0;
  std::list<KeptHold> kept_;
  Holds holds_;
  std::set<std::pair<Instant, Hash128>> leases_;  ///< by their ends
};

}  // namespace weir::proxy
