// From what a request shows to its claims on the store: which limits apply to it, for which keys,
// with which numbers and costs.
//
// Belongs to one worker and one configuration. Allocates nothing in the steady state. What a call
// keeps while it runs is begun anew by the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "identity/identity.hpp"
#include "identity/token_readings.hpp"
#include "limiter/attribute_texts.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/local_shares.hpp"
#include "limiter/options.hpp"
#include "limiter/policy_record.hpp"
#include "limiter/resolved_identities.hpp"
#include "limiter/route_evidence.hpp"
#include "limiter/trace.hpp"
#include "limiter/unknown_plans.hpp"

namespace weir::limiter {

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

  /// For the decisions that the store does not make (store::Decider::local).
  LocalShares& local_shares() { return local_shares_; }
  /// Of the request of the last call.
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
