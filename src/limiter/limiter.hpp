// Decides about a request: limits of its routes -> claims -> store -> one verdict.
//
// A Limiter belongs to one worker; the store is the memory store, or the first link of the chain to
// Redis. The state of one request is kept in an Evaluation of the caller, so any number of requests
// can wait for the store at the same time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "identity/token_readings.hpp"
#include "limiter/claims.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/held_units.hpp"
#include "limiter/local_shares.hpp"
#include "limiter/options.hpp"
#include "limiter/request_evidence.hpp"
#include "limiter/slot_queue.hpp"
#include "limiter/unknown_plans.hpp"
#include "limiter/verdict.hpp"
#include "store/store.hpp"

namespace weir::limiter {

class Limiter {
 public:
  /// `decider`: the decider of this store unless it fails. `policies`: one for each policy, in the
  /// order of the configuration; empty: the limiter makes them, with the index as id.
  /// `unknown_plans` outlives the limiter; nullptr: unknown names are not counted. `queue`
  /// likewise; nullptr: no request waits for a slot.
  Limiter(const Options& options, store::Store& store,
          store::Decider decider = store::Decider::memory, std::vector<PolicyRecord> policies = {},
          identity::TokenReadings::Counters token_counters = {},
          UnknownPlans* unknown_plans = nullptr, SlotQueue* queue = nullptr);

  /// `routes`: those that the request may be for; the first one takes it. The limits of all of them
  /// apply; the same policy and key in two of them is charged once, with the higher cost. Returns
  /// true if the evaluation has its verdict, and false if the store passes its result to
  /// `completion` later: then call conclude() with it. `evaluation`, and the data that `routes`
  /// view, must stay in place until then. `trace`: as for ClaimMaker::make().
  bool decide(Evaluation& evaluation, std::span<const RouteEvidence> routes,
              store::Completion& completion, Instant now, Trace* trace = nullptr);
  /// The same for claims that the caller has found, at most limits_per_route. Their outcomes are
  /// not counted: call count_outcomes() with the verdict that the request gets.
  bool decide(Evaluation& evaluation, std::span<const StatedClaim> claims,
              store::Completion& completion, Instant now);
  void count_outcomes(const Verdict& verdict);
  /// The numbers in force for such a claim; nullptr: the plan of its identity has no limit.
  const rules::Policy* numbers_of(const StatedClaim& claim) const {
    return claims_.numbers_of(claim);
  }
  /// Returns the verdict of an evaluation that the store has decided.
  const Verdict& conclude(Evaluation& evaluation, const store::Result& result);

  // A denied request whose evaluation has `waits_for` is not counted yet: it waits.

  /// Decides the same claims again, as decide() with this completion; pass the result to
  /// conclude(). `look`: reads the keys only (limiter::has_room).
  std::optional<store::Result> ask_again(Evaluation& evaluation, bool look,
                                         store::Completion& completion, Instant now);
  /// Returns the verdict of a request that does not wait any more, which is its last denial. After
  /// a wait it shows only the limits that deny: the others may have changed.
  const Verdict& give_up(Evaluation& evaluation, bool has_waited);
  /// `policy` is one of the configuration's.
  const PolicyRecord& record_of(const Policy& policy) const {
    return policies_[static_cast<std::size_t>(&policy - options_.policies.data())];
  }
  PolicyCounters& counters_of(const Policy& policy) const { return *record_of(policy).counters; }
  /// nullptr: no request waits.
  SlotQueue* queue() const { return queue_; }

  /// Counts holds that have ended (limiter::end).
  void count_settled(const HeldUnits& held);

  /// Called for each claim whose override cannot be read; the policy's own numbers decided it.
  using OnMalformedOverride = std::function<void(const Policy&, const Hash128& identity)>;
  void watch_overrides(OnMalformedOverride on_malformed) {
    on_malformed_override_ = std::move(on_malformed);
  }

  /// The store that decides, which settles what its claims hold.
  store::Store& store() const { return store_; }

  /// For the decisions that the store does not make (store::Decider::local).
  LocalShares& local_shares() { return claims_.local_shares(); }

  /// The tokens of the request that was decided last.
  identity::TokenReadings& tokens() { return claims_.tokens(); }

  /// One for each policy, in the order of the configuration.
  std::span<const PolicyRecord> policies() const { return policies_; }

 private:
  bool acquire(Evaluation& evaluation, store::Completion& completion, Instant now);
  bool note_override(Evaluation& evaluation, std::size_t index);
  void note_holds(Evaluation& evaluation, const store::Result& result);
  void fail(Evaluation& evaluation, const store::Result& result);

  const Options& options_;
  store::Store& store_;
  store::Decider decider_;
  std::vector<PolicyRecord> policies_;
  ClaimMaker claims_;
  SlotQueue* queue_;
  OnMalformedOverride on_malformed_override_;
};

}  // namespace weir::limiter
