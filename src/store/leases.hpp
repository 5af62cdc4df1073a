// A link of the chain: decides requests for hot keys from leases (store/lease.hpp, ADR 0040).
//
// A request is decided here if the leases of all its keys cover it, or if the lease of one key is
// exhausted. While a question about a hot key is in flight, requests that its lease does not cover
// wait for the reply instead of asking themselves. All other requests go on to the next link.
// Leases are questions with holds to the remote store, without the links between: no other store
// answers instead.
//
// The worker gives units back when a key is idle, when a lease has ended, when the limit in force
// changes, and at the end. Belongs to one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/container/static_vector.hpp>

#include "base/ring.hpp"
#include "store/chain_counters.hpp"
#include "store/guarded_store.hpp"
#include "store/lease_table.hpp"
#include "store/link.hpp"
#include "store/reused.hpp"

namespace weir::store {

class Leases;

/// A request that waits for the reply to a question about one of its keys.
struct LeaseWaiter final : Ring<LeaseWaiter> {
  Acquisition* acquisition = nullptr;
  Completion* caller = nullptr;
  ClaimSet noted = 0;    ///< claims whose demand has been noted
  bool is_last = false;  ///< it has waited before
};

/// A question for units.
struct LeaseQuestion final : Completion {
  explicit LeaseQuestion(Leases& its_link) : link(its_link) {}
  void complete(const Result& result, Instant now) noexcept override;

  Leases& link;
  LeasedKey* key = nullptr;  ///< nullptr: it was removed meanwhile
  std::shared_ptr<const rules::Policy> policy;
  Claim claim;
  rules::Decision decision;
  Acquisition acquisition;
  LeaseWaiter waiting;  ///< the head of the ring
};

struct LeaseOptions {
  int share = 0;  ///< of the limit in force, in percent, that this instance may hold; 0: no leases
  Duration duration = std::chrono::milliseconds(200);  ///< from the latest question about the key
  std::size_t workers = 1;                             ///< each may hold its part of the share
};

class Leases final : public Link {
 public:
  /// `timeout`: of a decision, from Acquisition::arrived_at. `seed`: random in production. `sets`:
  /// of LeaseTable.
  Leases(Store& next, GuardedStore& remote, Duration timeout, std::uint64_t seed,
         ChainCounters& counters, std::size_t sets = 1024)
      : Link(next), remote_(remote), timeout_(timeout), counters_(counters), table_(sets, seed) {}

  /// Gives all units back if the share is 0.
  void use(const LeaseOptions& options, Instant now);
  /// To be called with every tick of the worker.
  void tick(Instant now);
  /// Whether a question for units is in flight.
  bool is_asking() const { return asking_ > 0; }

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  /// Drops the lease of the key.
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override;
  /// A refund goes to the lease of its key first: units that were spent become available again.
  void settle(std::span<const Settlement> settlements, Instant now) override;

 private:
  friend struct LeaseQuestion;
  using Keys = boost::container::static_vector<LeasedKey*, claims_per_request>;

  bool find_keys(std::span<const Claim> claims, Keys& keys);
  bool observe(std::span<const Claim> claims, Keys& keys, Instant now);
  bool may_lease(const Keys& keys, Instant now) const;
  std::optional<Result> decide(Acquisition& acquisition, const Keys& keys, Instant now);
  Lease::Terms terms_of(const LeasedKey& key) const;
  static void note_admission(std::span<const Claim> claims, const Keys& keys, ClaimSet noted,
                             Instant now);
  static ClaimSet note_denial(std::span<const Claim> claims, const Keys& keys, Instant now);
  void ask_for_missing(const Acquisition& acquisition, const Keys& keys, Instant now) noexcept;
  void renew(LeasedKey& key, const Claim& claim, Instant arrived_at, Instant now) noexcept;
  void ask(LeasedKey& key, const Claim& claim, Instant arrived_at, Instant now);
  LeaseWaiter* wait(const Keys& keys, Acquisition& acquisition, Completion& completion,
                    Instant now);
  void answer(LeaseQuestion& question, const Result& result, Instant now);
  void apply(LeasedKey& key, const rules::Decision& decision, const Result& result, Instant now);
  std::optional<Result> decide_again(LeaseWaiter& waiter, Instant now) noexcept;
  void settle(LeasedKey& key, const Lease::Spent& spent, Instant now);
  void give_back(LeasedKey& key, Instant now);

  GuardedStore& remote_;
  Duration timeout_;
  ChainCounters& counters_;
  LeaseOptions options_;
  LeaseTable table_;
  Reused<LeaseQuestion> questions_;
  Reused<LeaseWaiter> waiters_;
  std::size_t asking_ = 0;
};

}  // namespace weir::store
