#include "store/single_flight.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weir::store {
namespace {

bool is_same_key(const Claim& a, const Claim& b) {
  return a.policy_id == b.policy_id && a.identity == b.identity;
}

/// Equal claims: the decision about one request is the decision about the other.
bool is_same(const Claim& a, const Claim& b) {
  return is_same_key(a, b) && a.policy_revision == b.policy_revision && a.policy == b.policy &&
         a.shadow == b.shadow && a.is_exempt == b.is_exempt && a.demand.cost == b.demand.cost;
}

}  // namespace

void Flight::complete(const Result& result, Instant now) noexcept {
  link.land(*this, result, now);
}

std::optional<Result> SingleFlight::acquire(Acquisition& acquisition, Completion& completion,
                                            Instant now) {
  // No time is left: the next link does not ask either.
  if (now - acquisition.arrived_at >= with_.timeout)
    return next_.acquire(acquisition, completion, now);
  const Found found = look_up(acquisition, now);
  if (found.asking != nullptr) {
    Flight& waiting = flights_.take(*this);
    waiting.acquisition = &acquisition;
    waiting.caller = &completion;
    waiting.is_merged = false;
    waiting.link_before(*found.asking);
    return std::nullopt;
  }
  if (found.denied != nullptr) return ask(acquisition, completion, *found.denied, now);
  return next_.acquire(acquisition, completion, now);
}

SingleFlight::Found SingleFlight::look_up(const Acquisition& acquisition, Instant now) {
  Found found;
  if (!may_be_remembered(acquisition.claims) && !may_be_merged(acquisition.claims)) return found;
  for (const Claim& claim : acquisition.claims) {
    if (claim.shadow) continue;
    Flight** const asking = with_.memory.asking(claim, now);
    if (asking == nullptr) continue;
    if (*asking == nullptr) {
      if (found.denied == nullptr) found.denied = &claim;
    } else if (may_wait_for(**asking, acquisition)) {
      found.asking = *asking;
      return found;
    }
  }
  return found;
}

/// A request whose denial is charged waits only for one with the same keys: its own question
/// follows that one, so requests with ever other keys would wait for each other.
bool SingleFlight::may_wait_for(const Flight& asking, const Acquisition& acquisition) const {
  const Acquisition& earlier = *asking.acquisition;
  if (earlier.arrived_at > acquisition.arrived_at) return false;
  if (!with_.remote.is_trusted(asking.key.identity)) return false;
  return may_be_remembered(acquisition.claims) ||
         std::ranges::equal(earlier.claims, acquisition.claims, is_same_key);
}

std::optional<Result> SingleFlight::ask(Acquisition& acquisition, Completion& completion,
                                        const Claim& denied, Instant now) {
  auto flight = flights_.borrow(*this);
  flight->acquisition = &acquisition;
  flight->caller = &completion;
  flight->key = DenialMemory::key_of(denied);
  *with_.memory.asking(denied, now) = &*flight;
  if (const auto still = with_.memory.recall(denied, now, acquisition.arrived_at);
      still && !still->allowed && may_be_remembered(acquisition.claims))
    with_.memory.count_question(denied, now);  // it asks for another limit's state
  acquisition.repeats = equal_in_group(acquisition);
  // No other request can begin to wait during the call, so none waits if it throws.
  std::optional<Result> result;
  try {
    result = next_.acquire(acquisition, *flight, now);
  } catch (...) {
    with_.memory.land(flight->key, *flight);
    throw;
  }
  if (result) {
    with_.memory.land(flight->key, *flight);
  } else {
    sent_ = &*flight;
    flight.keep();
  }
  return result;
}

/// The answer has arrived, or never will. Completes the request that asked first: the next denial
/// is remembered from its result, and denies those that wait.
void SingleFlight::land(Flight& flight, const Result& result, Instant now) {
  with_.memory.land(flight.key, flight);
  // All waiting requests leave the ring; later ones do not wait for this flight any more.
  Flight waiting(*this);
  if (flight.is_linked()) {
    waiting.link_before(flight);
    flight.unlink();
  }
  const bool is_denied =
      result.error == Error::none && result.decider == Decider::redis && !result.admitted;
  Flight merged(*this);
  for (Flight* one = waiting.next(); one != &waiting;) {
    Flight& other = *std::exchange(one, one->next());
    if (!other.is_merged || !is_denied) continue;
    std::ranges::copy(flight.acquisition->decisions.first(flight.acquisition->claims.size()),
                      other.acquisition->decisions.begin());
    other.unlink();
    other.link_before(merged);
  }
  complete(flight, result, now);
  while (merged.is_linked()) {
    Flight& first = *merged.next();
    first.unlink();
    complete(first, result, now);
  }
  while (waiting.is_linked()) {
    Flight& first = *waiting.next();
    first.unlink();
    decide_again(first, is_denied ? &waiting : nullptr, now);
  }
}

void SingleFlight::complete(Flight& flight, const Result& result, Instant now) {
  Completion& caller = *flight.caller;
  flights_.give_back(flight);
  caller.complete(result, now);
}

/// `group`: those that still wait; nullptr: each is decided for itself.
void SingleFlight::decide_again(Flight& first, Flight* group, Instant now) {
  Acquisition& acquisition = *first.acquisition;
  Completion& caller = *first.caller;
  flights_.give_back(first);
  group_ = may_be_merged(acquisition.claims) ? group : nullptr;
  sent_ = nullptr;
  const auto result = recall_or_acquire(acquisition, caller, now);
  if (group_ != nullptr && sent_ != nullptr && acquisition.repeats > 0) merge_group(*sent_);
  group_ = nullptr;
  if (result) caller.complete(*result, now);
}

/// The requests that a question about this one can reject, too.
std::uint32_t SingleFlight::equal_in_group(const Acquisition& acquisition) const {
  std::uint32_t count = 0;
  if (group_ == nullptr) return count;
  for (const Flight* one = group_->next(); one != group_; one = one->next()) {
    if (std::ranges::equal(one->acquisition->claims, acquisition.claims, is_same)) ++count;
  }
  return count;
}

/// Moves them to the ring of the flight that asks.
void SingleFlight::merge_group(Flight& asking) {
  for (Flight* one = group_->next(); one != group_;) {
    Flight& other = *std::exchange(one, one->next());
    if (!std::ranges::equal(other.acquisition->claims, asking.acquisition->claims, is_same))
      continue;
    other.is_merged = true;
    other.unlink();
    other.link_before(asking);
  }
}

/// The call of a waiting request has returned, so a lack of memory is a result.
std::optional<Result> SingleFlight::recall_or_acquire(Acquisition& acquisition,
                                                      Completion& completion,
                                                      Instant now) noexcept {
  try {
    if (const auto denied = with_.known.recall(acquisition, now)) return denied;
    return acquire(acquisition, completion, now);
  } catch (const std::bad_alloc&) {
    return Result{.error = Error::out_of_memory, .decider = Decider::local};
  }
}

}  // namespace weir::store
