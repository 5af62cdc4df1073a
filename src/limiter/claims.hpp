// From what a request shows to its claims on the store: which limits apply to it, for which keys,
// with which numbers and costs.
//
// Belongs to one worker and one configuration. Allocates nothing in the steady state. Each call
// starts from an empty state.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/counters.hpp"
#include "base/named_hits.hpp"
#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/attribute_texts.hpp"
#include "limiter/charge.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/local_shares.hpp"
#include "limiter/options.hpp"
#include "limiter/request_evidence.hpp"
#include "limiter/resolved_identities.hpp"
#include "limiter/trace.hpp"
#include "limiter/unknown_plans.hpp"

namespace weir::limiter {

/// Decisions by policy and outcome, for the metrics.
struct PolicyCounters {
  Counter allowed, denied, shadow_denied, delayed;
  Counter error;  ///< answered 503 because the store did not decide and this policy denies then
  std::array<Counter, settled_by_names.size()>
      settled;   ///< settlements by what determined the cost
  Gauge held;    ///< units held for requests in progress
  Gauge queued;  ///< requests that wait for a slot
  /// Units in leases; shared with the leases, which may outlive the policy.
  std::shared_ptr<Gauge> leased = std::make_shared<Gauge>();
  Counter early_retries;  ///< requests before the Retry-After that their key was given
  HitCounters hits;       ///< of the rate limit service
};

/// The part of a policy that a worker keeps from one configuration to the next.
struct PolicyRecord {
  std::uint32_t id = 0;  ///< by its name: the store keeps its state under it
  /// By its definition: denials of other revisions are not used. The terms of the i-th plan in
  /// Policy::planned have the revision `revision + 1 + i`.
  std::uint32_t revision = 0;
  std::shared_ptr<PolicyCounters> counters;
};

/// Numbers that replace those of a policy for one request.
struct StatedTerms {
  Terms terms;
  LocalShare local;            ///< of these numbers
  std::uint32_t revision = 0;  ///< distinguishes them from others of the policy
};

/// A claim whose policy and key the caller has found.
struct StatedClaim {
  std::size_t policy = 0;          ///< index into Options::policies; not concurrency
  std::size_t identity_index = 0;  ///< index into Options::identities
  Hash128 identity;
  std::int64_t cost = 1;
  bool overdraft = false;              ///< admit a cost above the rest, and take the rest
  bool holds = false;                  ///< hold the cost until Evaluation::held is settled
  const StatedTerms* terms = nullptr;  ///< nullptr: those of the policy; outlives the evaluation
};

class ClaimMaker {
 public:
  /// `options` and `policies` outlive this, and `unknown_plans` too; nullptr: unknown names are not
  /// counted. `policies`: one for each policy of the options.
  ClaimMaker(const Options& options, std::span<const PolicyRecord> policies,
             identity::TokenReadings::Counters token_counters, UnknownPlans* unknown_plans);
  ClaimMaker(const ClaimMaker&) = delete;
  ClaimMaker& operator=(const ClaimMaker&) = delete;

  /// Adds the claims of all routes to an evaluation that is cleared. Returns false if the request
  /// is refused: the verdict is set then, except for its decider. `trace`: nullptr, or receives the
  /// steps.
  bool make(std::span<const RouteEvidence> routes, Evaluation& evaluation, Instant now,
            Trace* trace = nullptr);
  /// Adds a claim to an evaluation, which has fewer than limits_per_route.
  void add(const StatedClaim& stated, Evaluation& evaluation) const;
  /// The numbers that add() gives the claim; nullptr: it is exempt.
  const rules::Policy* numbers_of(const StatedClaim& stated) const;

  /// For the decisions that the store does not make (store::Decider::local).
  LocalShares& local_shares() { return local_shares_; }
  /// Returns the tokens of the request of the last make().
  identity::TokenReadings& tokens() { return tokens_; }

 private:
  /// The route that is being read, in one call.
  struct Reading {
    const RouteEvidence& route;
    std::size_t index;
    Evaluation& evaluation;
  };
  template <class Recorder>
  bool make_all(std::span<const RouteEvidence> routes, Evaluation& evaluation, Recorder recorder);
  template <class Recorder>
  bool add_claims(const Reading& reading, Recorder& recorder);
  template <class Recorder>
  Fate apply(const Limit& limit, std::size_t earlier, const Reading& reading, std::size_t& index,
             Recorder& recorder);
  template <class Recorder>
  std::optional<Fate> unmet_condition(const Limit& limit, const Reading& reading,
                                      Recorder& recorder);
  const PlannedTerms* planned_for(const StatedClaim& stated) const;
  const PlanReading& plan_of(const Reading& reading);
  store::Claim claim_of(const Limit& limit, const RouteEvidence& route, const PlannedTerms* planned,
                        const Terms& terms, const Hash128& identity) const;
  Fate add_claim(const store::Claim& claim, const AppliedPolicy& applied, const Reading& reading);

  const Options& options_;
  std::span<const PolicyRecord> policies_;
  LocalShares local_shares_;
  identity::TokenReadings tokens_;
  ResolvedIdentities identities_;    ///< of the route that is being read
  std::optional<PlanReading> plan_;  ///< of this route; empty: not yet read
  AttributeReader attributes_;
  UnknownPlans* unknown_plans_;
};

}  // namespace weir::limiter
