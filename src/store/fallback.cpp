#include "store/fallback.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <boost/container/static_vector.hpp>

namespace weir::store {

std::optional<Result> Fallback::acquire(Acquisition& acquisition, Completion& completion,
                                        Instant now) {
  if (now - acquisition.arrived_at >= timeout_)
    return decide_alone(acquisition, Error::timeout, now);
  auto asked = asked_.borrow(*this);
  asked->acquisition = &acquisition;
  asked->caller = &completion;
  const auto result = next_.acquire(acquisition, *asked, now);
  if (!result) {
    asked.keep();
    return std::nullopt;
  }
  return result->error == Error::none ? *result : decide_alone(acquisition, result->error, now);
}

void Fallback::answer(Forwarded<Fallback>& asked, const Result& result, Instant now) {
  Acquisition& acquisition = *asked.acquisition;
  Completion& caller = *asked.caller;
  asked_.give_back(asked);
  if (result.error == Error::none) return caller.complete(result, now);
  caller.complete(decide_alone(acquisition, result.error, now), now);
}

Result Fallback::decide_alone(Acquisition& acquisition, Error why, Instant now) noexcept {
  counters_.alone.add();
  const Result failed{.error = why, .decider = Decider::local};
  const bool denies = std::ranges::any_of(acquisition.claims, [](const Claim& claim) {
    return claim.on_failure == OnFailure::deny && !claim.shadow;
  });
  if (denies) {
    counters_.undecided[static_cast<std::size_t>(why)].add();
    return failed;
  }
  try {
    return decide_locally(acquisition, now);
  } catch (const std::bad_alloc&) {
    return failed;
  }
}

Result Fallback::decide_locally(Acquisition& acquisition, Instant now) {
  const auto claims = acquisition.claims;
  boost::container::static_vector<Claim, claims_per_request> own;
  std::array<std::size_t, claims_per_request> positions{};
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].on_failure != OnFailure::local) continue;
    positions[own.size()] = i;
    own.push_back(claims[i]);
    own.back().policy = claims[i].local_policy;
  }
  Result result{.admitted = true, .decider = Decider::local};
  if (own.empty()) return result;
  std::array<rules::Decision, claims_per_request> decisions;
  result.admitted = local_.decide({own.data(), own.size()}, now, decisions);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!decisions[i].refill) decisions[i].refill = own[i].policy->refill;
    acquisition.decisions[positions[i]] = decisions[i];
    result.decided = static_cast<ClaimSet>(result.decided | 1U << positions[i]);
  }
  result.alone = result.decided;
  return result;
}

void Fallback::settle(std::span<const Settlement> settlements, Instant now) {
  if (settlements.empty()) return next_.settle(settlements, now);
  for (const Settlement& settlement : settlements) {
    Store& holder = settlement.alone ? static_cast<Store&>(local_) : next_;
    holder.settle({&settlement, 1}, now);
  }
}

}  // namespace weir::store
