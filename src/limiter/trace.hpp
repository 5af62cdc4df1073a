// The steps by which the limits of a request came to apply to it, or not: what `weir explain`
// shows.
//
// Recorded only if a trace is passed; the decision is the same with and without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "identity/identity.hpp"
#include "limiter/condition.hpp"
#include "limiter/plans.hpp"
#include "limiter/policy.hpp"

namespace weir::limiter {

/// Why a limit has a claim, or none.
enum class Fate : std::uint8_t {
  claimed,          ///< `claim` is its claim
  merged,           ///< `claim` is that of an equal limit of an earlier route
  preflight,        ///< does not apply: CORS preflight requests are not charged
  condition,        ///< does not apply: `when` does not hold, or `unless` does
  identity_absent,  ///< does not apply
  token_invalid,    ///< does not apply, and the request is refused if no other limit denies it
  ambiguous,        ///< a shadow policy does not apply; other requests are refused
  required,         ///< the request is refused: the identity is absent
  too_many,         ///< the request is refused: it has too many limits
};

struct TracedCondition {
  bool is_when = false;  ///< or `unless`
  ConditionPart unmet = ConditionPart::none;
  bool holds = false;
};

struct TracedIdentity {
  std::size_t index = 0;  ///< into Options::identities
  identity::Resolution resolution;
};

struct TracedLimit {
  std::size_t route = 0;  ///< into the routes passed to decide()
  const Limit* limit = nullptr;
  /// Those that were evaluated, `when` first.
  boost::container::static_vector<TracedCondition, 2> conditions{};
  /// Those that were looked for: that of the limit, and `otherwise` if it is absent.
  boost::container::static_vector<TracedIdentity, 2> identities{};
  const PlannedTerms* planned = nullptr;  ///< the terms of the plan; nullptr: those of the policy
  Fate fate = Fate::claimed;
  std::size_t claim = 0;  ///< claimed, merged: index of the claim
};

struct Trace {
  std::vector<TracedLimit> limits;  ///< until the one that refuses the request
  std::optional<PlanReading> plan;  ///< of the last route that looked for one
};

}  // namespace weir::limiter
