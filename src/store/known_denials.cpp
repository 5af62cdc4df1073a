#include "store/known_denials.hpp"

#include <algorithm>
#include <array>

#include <boost/container/static_vector.hpp>

namespace weir::store {
namespace {

/// The decisions about the same request, right after this one.
struct Next {
  boost::container::static_vector<std::optional<rules::Decision>, claims_per_request> decisions;
  bool denied = false;  ///< the request would be denied
  bool known = true;    ///< the retry time of every denial is known
};

Next next_of(const Acquisition& acquisition) {
  Next next;
  for (std::size_t i = 0; i < acquisition.claims.size(); ++i) {
    const Claim& claim = acquisition.claims[i];
    const auto& decision =
        next.decisions.emplace_back(decision_after(acquisition.decisions[i], claim.demand.cost));
    if (claim.shadow) continue;
    next.known = next.known && decision.has_value();
    next.denied = next.denied || !decision || !decision->allowed;
  }
  return next;
}

}  // namespace

bool may_be_remembered(std::span<const Claim> claims) {
  for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
    if (claim->policy->count_rejected || claim->demand.overdraft) return false;
    const bool shares_key = std::any_of(claims.begin(), claim, [&](const Claim& earlier) {
      return earlier.policy_id == claim->policy_id && earlier.identity == claim->identity;
    });
    if (shares_key) return false;
  }
  return true;
}

bool leaves_enough(const Acquisition& acquisition) {
  return may_be_remembered(acquisition.claims) && !next_of(acquisition).denied;
}

std::optional<Result> KnownDenials::recall(Acquisition& acquisition, Instant now) const {
  const auto claims = acquisition.claims;
  std::array<std::optional<rules::Decision>, claims_per_request> known;
  bool denied = false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    known[i] = memory_.recall(DenialMemory::key_of(claims[i]), now, acquisition.arrived_at);
    denied = denied || (known[i] && !known[i]->allowed && !claims[i].shadow);
  }
  if (!denied || !may_be_remembered(claims)) return std::nullopt;

  Result result{.decider = Decider::redis};
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!known[i]) continue;
    acquisition.decisions[i] = *known[i];
    result.decided = static_cast<ClaimSet>(result.decided | 1U << i);
  }
  counters_.remembered.add();
  if (confirmation_ != nullptr) confirmation_->keep_fresh(now);
  return result;
}

void KnownDenials::remember(const Acquisition& acquisition, Instant now) {
  if (!acquisition.asked_at || !may_be_remembered(acquisition.claims)) return;
  const Next next = next_of(acquisition);
  // If the retry time of one denial is unknown, a recalled result would have no Retry-After.
  if (!next.denied || !next.known) return;
  for (std::size_t i = 0; i < acquisition.claims.size(); ++i) {
    if (next.decisions[i]) {
      memory_.remember(DenialMemory::key_of(acquisition.claims[i]), *next.decisions[i],
                       *acquisition.asked_at, now);
    }
  }
}

}  // namespace weir::store
