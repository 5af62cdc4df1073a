#include "store/split_requests.hpp"

#include <algorithm>
#include <new>

#include <boost/container/static_vector.hpp>

namespace weir::store {
namespace {

/// Whether a claim is charged although its request is denied.
bool is_charged_anyway(const Claim& claim) {
  return claim.policy->count_rejected && claim.demand.cost > 0 && !claim.is_exempt;
}

}  // namespace

std::optional<Result> SplitRequests::acquire(Acquisition& acquisition, Completion& completion,
                                             Instant now) {
  if (!is_divided(acquisition.claims)) return next_.acquire(acquisition, completion, now);
  return divide(acquisition, completion, false, now);
}

std::optional<Result> SplitRequests::peek(Acquisition& acquisition, Completion& completion,
                                          Instant now) {
  if (!is_divided(acquisition.claims)) return next_.peek(acquisition, completion, now);
  return divide(acquisition, completion, true, now);
}

bool SplitRequests::is_divided(std::span<const Claim> claims) const {
  const Hash128& first = claims.front().identity;
  std::optional<std::uint32_t> division;
  for (const Claim& claim : claims) {
    if (claim.identity == first) continue;
    if (!division) division = divisions_.division_of(first);
    if (divisions_.division_of(claim.identity) != *division) return true;
  }
  return false;
}

std::optional<Result> SplitRequests::divide(Acquisition& acquisition, Completion& completion,
                                            bool is_peek, Instant now) {
  Split& split = splits_.take(*this);
  split.acquisition = &acquisition;
  split.caller = &completion;
  split.is_peek = is_peek;
  fill(split);
  split.waiting = split.size;
  send(split, now);
  if (split.waiting > 0) return std::nullopt;
  const Result result = join(split, now);
  splits_.give_back(split);
  return result;
}

/// Groups the claims by their division, in the order in which the divisions first come.
void SplitRequests::fill(Split& split) const {
  const std::span<const Claim> claims = split.acquisition->claims;
  std::array<std::uint32_t, claims_per_request> divisions{};
  for (std::size_t i = 0; i < claims.size(); ++i)
    divisions[i] = divisions_.division_of(claims[i].identity);
  ClaimSet taken = 0;
  std::size_t count = 0;
  split.size = 0;
  for (std::size_t first = 0; first < claims.size(); ++first) {
    if (contains(taken, first)) continue;
    const std::size_t begin = count;
    for (std::size_t i = first; i < claims.size(); ++i) {
      if (divisions[i] != divisions[first]) continue;
      taken = static_cast<ClaimSet>(taken | 1U << i);
      split.claims[count] = claims[i];
      split.claims[count].holds = !split.is_peek;
      split.positions[count++] = i;
    }
    Part& part = split.parts[split.size++];
    part.split = &split;
    part.result = {};
    part.acquisition = {.claims = {split.claims.data() + begin, count - begin},
                        .decisions = {split.decisions.data() + begin, count - begin},
                        .arrived_at = split.acquisition->arrived_at};
  }
}

/// A part that cannot be sent has failed; the others are settled as if it had been denied.
void SplitRequests::send(Split& split, Instant now) noexcept {
  for (std::size_t i = 0; i < split.size; ++i) {
    Part& part = split.parts[i];
    std::optional<Result> result;
    try {
      result = split.is_peek ? next_.peek(part.acquisition, part, now)
                             : next_.acquire(part.acquisition, part, now);
    } catch (const std::bad_alloc&) {
      result = Result{.error = Error::out_of_memory, .decider = Decider::local};
    }
    if (!result) continue;
    part.result = *result;
    --split.waiting;
  }
}

void SplitRequests::on_part(Split& split, Instant now) noexcept {
  if (--split.waiting > 0) return;
  const Result result = join(split, now);
  Completion& caller = *split.caller;
  splits_.give_back(split);
  caller.complete(result, now);
}

/// The result of the request. Writes its decisions, and settles the holds of the parts.
Result SplitRequests::join(Split& split, Instant now) {
  Result all{.admitted = true, .decider = Decider::redis};
  Acquisition& request = *split.acquisition;
  for (std::size_t i = 0; i < split.size; ++i) {
    const Part& part = split.parts[i];
    if (part.acquisition.asked_at)
      request.asked_at = std::min(request.asked_at.value_or(*part.acquisition.asked_at),
                                  *part.acquisition.asked_at);
    all.admitted = all.admitted && part.result.admitted;
    if (all.error == Error::none) all.error = part.result.error;
    if (part.result.decider == Decider::local) all.decider = Decider::local;
    const auto first =
        static_cast<std::size_t>(part.acquisition.claims.data() - split.claims.data());
    for (std::size_t j = 0; j < part.acquisition.claims.size(); ++j) {
      const auto bit = static_cast<ClaimSet>(1U << split.positions[first + j]);
      if (contains(part.result.decided, j)) all.decided = static_cast<ClaimSet>(all.decided | bit);
      if (contains(part.result.alone, j)) all.alone = static_cast<ClaimSet>(all.alone | bit);
    }
  }
  if (all.error != Error::none) all.admitted = false;
  if (!split.is_peek) settle(split, all, now);
  for (std::size_t i = 0; i < request.claims.size(); ++i)
    request.decisions[split.positions[i]] = split.decisions[i];
  if (all.error != Error::none) all.decided = all.alone = 0;
  return all;
}

/// Ends the holds that are those of the parts only, and all of a request that is not admitted.
void SplitRequests::settle(Split& split, const Result& result, Instant now) {
  boost::container::static_vector<Settlement, claims_per_request> settlements;
  const Acquisition& request = *split.acquisition;
  for (std::size_t i = 0; i < request.claims.size(); ++i) {
    const std::size_t position = split.positions[i];
    if (!contains(result.decided, position)) continue;
    const Claim& claim = request.claims[position];
    rules::Decision& decision = split.decisions[i];
    // The settlement is about to change its numbers: they are not worth remembering.
    if (decision.allowed) decision.by_holds = true;
    if (result.admitted && claim.holds) continue;
    const bool is_charged =
        result.admitted || (result.error == Error::none && is_charged_anyway(claim));
    const std::int64_t repeats = is_charged && !result.admitted ? request.repeats : 0;
    const std::int64_t actual = (is_charged ? decision.held : 0) + claim.demand.cost * repeats;
    if (decision.held > 0 || actual > 0) {
      const bool is_alone = contains(result.alone, position);
      settlements.push_back({.policy = is_alone ? claim.local_policy : claim.policy,
                             .key = {.identity = claim.identity, .policy_id = claim.policy_id},
                             .held = decision.held,
                             .actual = actual,
                             .alone = is_alone,
                             .attributes = copied_attributes(claim)});
    }
    if (!is_charged)
      decision.remaining = std::min(decision.remaining + decision.held, decision.limit);
    decision.held = 0;
  }
  if (!settlements.empty()) next_.settle({settlements.data(), settlements.size()}, now);
}

}  // namespace weir::store
