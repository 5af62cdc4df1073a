// The policies of a configuration at other rates, while a log is replayed: what would they have
// denied, and which is the smallest round rate that denies few enough?
//
// Each policy is decided alone (rate_ladder.hpp), so its result does not depend on the rates of the
// others. A policy whose numbers a plan replaces is decided apart for each plan. A policy of
// concurrency has limits in place of rates, and results if its requests last: without their
// durations no limit denies one. A request that it would let wait is denied. Keeps data for keys
// only. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "limiter/evaluation.hpp"
#include "limiter/options.hpp"
#include "options/proxy.hpp"
#include "replay/arrival.hpp"
#include "replay/other_rates.hpp"
#include "replay/rate_ladder.hpp"
#include "replay/rate_report.hpp"

namespace weir::replay {

class RateStudy {
 public:
  /// The options outlive this. `with_round`: also decides the round rates, for suggestions.
  RateStudy(const options::Proxy& proxy, const limiter::Options& limits, bool with_round);

  /// A request that was decided, or waits. `costs`: Arrival::Logged::costs.
  void decide(const limiter::Evaluation& evaluation, const LadderEnd& end,
              std::span<const Arrival::Logged::Cost> costs, Instant now);

  /// For the policies that have decided a request, in the order of the configuration.
  std::vector<PolicyRates> rates() const;
  /// The smallest round rates that deny at most this share of the requests and of the keys.
  Suggestions suggestions(std::int64_t max_denied) const;

 private:
  struct Ladder {
    std::vector<OtherRate> rates;
    std::unique_ptr<RateLadder> decided;
  };
  /// The numbers of a policy, or of one of its plans.
  struct Terms {
    std::size_t policy = 0;
    std::optional<std::string> plan{};
    std::optional<Ladder> ladder{};         ///< empty: no request has used them
    bool has_lasting = false;               ///< a request ended later than it was decided
    std::optional<Ladder> without_burst{};  ///< only if the burst is written
  };

  Terms& terms_of(const limiter::AppliedPolicy& applied);
  Ladder ladder_of(std::vector<OtherRate> rates, std::size_t policy) const;
  void begin_terms(Terms& terms, const rules::Definition& definition) const;
  static LadderClaim claim_of(const store::Claim& claim, const limiter::AppliedPolicy& applied,
                              std::span<const Arrival::Logged::Cost> costs);
  static std::vector<RateReport> reports_of(const Ladder& ladder);
  Suggestion suggestion(const Terms& terms, std::int64_t max_denied) const;
  bool has_results(const Terms& terms) const;

  const limiter::Options& limits_;
  bool with_round_;
  std::vector<bool> has_holds_;      ///< by policy
  std::vector<std::size_t> first_;   ///< by policy: index of its own terms
  std::vector<Terms> terms_;         ///< the own terms of a policy, then those of its plans
  std::vector<LadderClaim> claims_;  ///< of the policy that is being decided
};

}  // namespace weir::replay
