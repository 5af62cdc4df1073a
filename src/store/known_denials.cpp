#include "store/known_denials.hpp"

#include <algorithm>
#include <array>

namespace weir::store {
namespace {

/// Whether the same request would be denied right after this decided one.
bool is_denied_next(const Acquisition& acquisition) {
  for (std::size_t i = 0; i < acquisition.claims.size(); ++i) {
    const Claim& claim = acquisition.claims[i];
    const rules::Decision& decision = acquisition.decisions[i];
    if (claim.shadow) continue;
    if (!decision.allowed || decision.remaining < claim.demand.cost) return true;
  }
  return false;
}

bool is_charged(const Claim& claim, const rules::Decision& decision, bool admitted) {
  if (claim.demand.cost <= 0) return false;
  return admitted ? decision.allowed || claim.policy->count_rejected : claim.policy->count_rejected;
}

/// Whether each claim is decided by its key alone.
bool each_decides_alone(std::span<const Claim> claims) {
  for (auto claim = claims.begin(); claim != claims.end(); ++claim) {
    if (claim->demand.overdraft) return false;
    const bool shares_key = std::any_of(claims.begin(), claim, [&](const Claim& earlier) {
      return earlier.policy_id == claim->policy_id && earlier.identity == claim->identity;
    });
    if (shares_key) return false;
  }
  return true;
}

/// Whether a decision is worth keeping. One that holds affect may change with any settlement; a key
/// that allows may soon have holds.
bool is_lasting(const Claim& claim, const rules::Decision& decision) {
  return !decision.by_holds && !(claim.holds && decision.allowed);
}

bool any_claim_holds(std::span<const Claim> claims) {
  return std::ranges::any_of(claims, &Claim::holds);
}

bool counts_rejected(std::span<const Claim> claims) {
  return std::ranges::any_of(claims,
                             [](const Claim& claim) { return claim.policy->count_rejected; });
}

}  // namespace

bool may_be_remembered(std::span<const Claim> claims) {
  return each_decides_alone(claims) && !counts_rejected(claims);
}

bool may_be_merged(std::span<const Claim> claims) {
  return counts_rejected(claims) && each_decides_alone(claims) && !any_claim_holds(claims);
}

std::optional<Result> KnownDenials::recall(Acquisition& acquisition, Instant now) const {
  const auto claims = acquisition.claims;
  std::array<std::optional<rules::Decision>, claims_per_request> known;
  const Claim* denied = nullptr;
  bool all_known = true;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    known[i] = memory_.recall(claims[i], now, acquisition.arrived_at);
    all_known = all_known && known[i];
    if (!denied && known[i] && !known[i]->allowed && !claims[i].shadow) denied = &claims[i];
  }
  if (denied == nullptr || !may_be_remembered(claims)) return std::nullopt;
  if (!all_known && memory_.may_ask_for_others(*denied, now)) return std::nullopt;

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

void KnownDenials::remember(const Acquisition& acquisition, bool admitted, Instant now) {
  if (!acquisition.asked_at) return;
  // An entry of a request that is merged has the place of its flight.
  const bool keeps = is_denied_next(acquisition) &&
                     (may_be_remembered(acquisition.claims) || may_be_merged(acquisition.claims));
  for (std::size_t i = 0; i < acquisition.claims.size(); ++i) {
    const Claim& claim = acquisition.claims[i];
    const rules::Decision& decision = acquisition.decisions[i];
    const DenialMemory::Reply reply{
        .decision = decision,
        .exchange = {.sent_at = *acquisition.asked_at, .answered_at = now},
        .charged = is_charged(claim, decision, admitted)};
    if (!is_lasting(claim, decision) || memory_.is_discarded(claim, reply.exchange.sent_at)) {
      memory_.forget(claim.identity, claim.policy_id);
    } else if (keeps) {
      memory_.remember(claim, reply);
    } else {
      memory_.refresh(claim, reply);
    }
  }
}

}  // namespace weir::store
