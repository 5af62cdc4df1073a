// Limits of a route -> claims -> store -> one verdict about the request.
//
// A Limiter belongs to one worker; the store is the memory store, or the first link of the chain to
// Redis. The state of one request is kept in an Evaluation of the caller, so any number of requests
// can wait for the store at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "identity/identity.hpp"
#include "limiter/attribute_texts.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/grant.hpp"
#include "limiter/resolved_identities.hpp"
#include "limiter/settings.hpp"
#include "limiter/verdict.hpp"
#include "store/store.hpp"

namespace weir::limiter {

/// Decisions by policy and outcome, for the metrics.
struct PolicyCounters {
  Counter allowed, denied, shadow_denied, delayed;
  Counter error;  ///< answered 503 because nobody could decide for this policy
};

/// A policy over the configurations of a worker.
struct PolicyRecord {
  std::uint32_t id = 0;        ///< of its name: the store keeps its state under it
  std::uint32_t revision = 0;  ///< of its definition: a denial by another one does not hold
  std::shared_ptr<PolicyCounters> counters;
};

/// The limits of a route, and what identities see of the request if it is for that route.
struct RouteEvidence {
  std::span<const Limit> limits;
  identity::Evidence evidence;
};

class Limiter {
 public:
  /// `decider`: who decides with this store unless it fails. `policies`: one a policy, in the
  /// configuration's order; none: the limiter makes them, with the index as id.
  Limiter(const Settings& config, store::Store& store,
          store::Decider decider = store::Decider::memory, std::vector<PolicyRecord> policies = {});

  /// `routes`: those that the request may be for, the one that takes it first. The limits of all of
  /// them apply; the same policy and key in two of them is charged once, with the higher cost.
  /// Returns the evaluation's verdict, or nullptr if the store passes its result to `completion`
  /// later: then conclude() has to be called with it. What `routes` view and `evaluation` stay in
  /// place until then.
  const Verdict* decide(Evaluation& evaluation, std::span<const RouteEvidence> routes,
                        store::Completion& completion, Instant now);
  /// The verdict of an evaluation that the store has decided.
  const Verdict& conclude(Evaluation& evaluation, const store::Result& result);

  /// For a request whose verdict is Outcome::allowed.
  Grant grant(const MonotonicClock& clock) const { return Grant(store_, clock); }

  /// One a policy, in the configuration's order.
  std::span<const PolicyRecord> policies() const { return policies_; }

 private:
  // Each returns false if the request is refused: then the verdict is there.
  bool make_claims(std::span<const RouteEvidence> routes, Evaluation& evaluation);
  bool add_claims(const RouteEvidence& route, Evaluation& evaluation);
  bool add_claim(const Limit& limit, const Hash128& identity, const RouteEvidence& route,
                 Evaluation& evaluation);
  bool refuse(Evaluation& evaluation, Outcome outcome,
              const identity::Ambiguity& ambiguity = {}) const;
  void fail(Evaluation& evaluation, const store::Result& result);
  void count_outcomes(const Verdict& verdict);
  PolicyCounters& counters_of(const Policy& policy) {
    return *policies_[static_cast<std::size_t>(&policy - config_.policies.data())].counters;
  }

  const Settings& config_;
  store::Store& store_;
  store::Decider decider_;
  std::vector<PolicyRecord> policies_;
  ResolvedIdentities identities_;  ///< of the request whose claims are being made
  AttributeReader attributes_;
};

}  // namespace weir::limiter
