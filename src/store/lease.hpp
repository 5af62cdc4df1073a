// The lease of one key: units that a worker holds in advance in the remote store, and from which it
// decides without asking.
//
// Exact. A unit is spent only while it is held in the remote store, and it is charged there when it
// has been spent, or when the worker's field of holds ends (docs/algorithms.md has the proof). The
// worker spends until `duration` after it sent the latest command about the key, much less than
// the time for which the store keeps its holds, so a worker that was paused spends nothing that has
// been charged already.
//
// The size follows the demand: the units that requests cost in the present period of `duration`, or
// in the former one. The worker asks again when half of them are spent. If the store grants less
// than it was asked for, the key is exhausted: until the next question, which comes after a short
// pause, a demand that exceeds the lease is denied.
//
// Units that the requests of a whole `duration` cannot use are stranded, such as three units for
// requests that cost five, or units of one key for requests whose other key is exhausted. They go
// back, and the store decides about an exhausted key for another `duration`. Otherwise two
// instances could each keep what the other one needs. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "rules/decision.hpp"
#include "rules/policy.hpp"
#include "store/claim.hpp"
#include "store/key_demand.hpp"

namespace weir::store {

/// Units that others hold in leases come back, or are charged, within this time if no request can
/// use them: the longest `duration` and a tick of the worker, in whole seconds.
inline constexpr Duration leases_back_after = std::chrono::seconds(1);

/// The store's times assume that no hold ends. If the units that others hold are in leases and
/// would cover the denied claim, it may pass when they are back: the denial shows that time. Holds
/// of a policy without leases are those of requests in progress, and nothing changes.
void expect_leases_back(const Claim& claim, rules::Decision& decision);

class Lease {
 public:
  static constexpr std::uint32_t hot_requests = KeyDemand::hot_requests;

  struct Terms {
    std::int64_t most = 0;  ///< units
    Duration duration{0};
  };
  /// A settlement: `held` units are released, and `actual` charged.
  struct Spent {
    std::int64_t held = 0;
    std::int64_t actual = 0;
  };

  KeyDemand& demand() { return demand_; }
  const KeyDemand& demand() const { return demand_; }
  /// A request has been admitted.
  void note_use(Instant now);
  /// A request has not been admitted from leases, this one among them.
  void note_unused() { is_passed_over_ = is_passed_over_ || left() > 0; }

  bool is_valid(Instant now) const { return now < valid_until_; }
  bool covers(std::int64_t cost, Instant now) const { return is_valid(now) && cost <= left(); }
  /// The latest reply granted less than was asked for.
  bool is_scarce() const { return is_scarce_; }
  /// Requests have come for `duration`, and none could use the units.
  bool is_stranded(Duration duration, Instant now) const {
    return is_passed_over_ && !is_asking() && left() > 0 && now >= used_at_ + duration;
  }
  /// False for a while after on_refused(): requests are for the store.
  bool may_be_asked_for(Instant now) const { return is_exhausted_ || now >= not_before_; }
  /// Only if the lease covers the cost.
  void spend(std::int64_t cost) { spent_ += cost; }
  /// Undoes spend(), in the same call.
  void unspend(std::int64_t cost) { spent_ -= cost; }
  /// The decision about a request whose cost has been spent.
  rules::Decision admission(Instant now) const;
  /// The decision about a demand that the lease does not cover, if the key is exhausted.
  std::optional<rules::Decision> denial(const rules::Policy& policy, std::int64_t cost,
                                        Instant now) const;

  /// The size of the question at `now`, so that a request of `cost` is covered; 0: no question.
  std::int64_t units_to_ask(const Terms& terms, std::int64_t cost, Instant now) const;
  /// The question was sent. on_granted() or on_refused() follows.
  void on_asked(std::int64_t units, Instant now);
  bool is_asking() const { return asked_ > 0; }
  /// `decision`: the store's, with the units that are held from now on.
  void on_granted(const rules::Policy& policy, const Terms& terms, const rules::Decision& decision,
                  Instant now);
  /// The store did not decide, or no lease is possible: the next question comes after `pause`.
  void on_refused(Duration pause, Instant now);

  /// Settles the spent units, and those that the present demand does not need.
  Spent settle_spent(const Terms& terms);
  /// Settles all units and ends the lease.
  Spent end();
  /// The units that the remote store holds for this lease.
  std::int64_t units() const { return units_; }
  /// The limit in force by the latest reply; 0: there was none.
  std::int64_t limit() const { return level_.limit; }
  /// Whether it has neither units nor a question in flight.
  bool is_idle() const { return units_ == 0 && asked_ == 0; }

 private:
  friend std::int64_t refund(Lease& lease, std::int64_t units);

  std::int64_t left() const { return units_ - spent_; }
  std::int64_t wanted(const Terms& terms) const;

  KeyDemand demand_;
  std::int64_t units_ = 0;  ///< held in the store, the spent ones too
  std::int64_t spent_ = 0;  ///< of them
  Instant valid_until_{};
  Instant used_at_{};            ///< the latest use, or the grant of the first units
  bool is_passed_over_ = false;  ///< since then a request has found units, and was not admitted

  std::int64_t asked_ = 0;  ///< in flight
  Instant asked_at_{};
  Instant not_before_{};  ///< of the next question
  bool is_scarce_ = false;
  bool is_exhausted_ = false;  ///< as is_scarce_, and the lease has not ended
  rules::Decision level_;      ///< of the latest reply
  Instant answered_at_{};
};

/// Gives back up to `units` that have been spent and not settled; returns how many. Denials end,
/// because the store gets the rest.
std::int64_t refund(Lease& lease, std::int64_t units);

}  // namespace weir::store
