#include "store/single_flight.hpp"

#include <new>

namespace weir::store {

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
    waiting.link_before(*found.asking);
    return std::nullopt;
  }
  if (found.expired) return ask(acquisition, completion, *found.expired, now);
  return next_.acquire(acquisition, completion, now);
}

SingleFlight::Found SingleFlight::look_up(const Acquisition& acquisition, Instant now) {
  Found found;
  if (!may_be_remembered(acquisition.claims)) return found;
  const bool may_wait = with_.breaker.is_trusted();
  for (const Claim& claim : acquisition.claims) {
    if (claim.shadow) continue;
    const auto key = DenialMemory::key_of(claim);
    Flight** const asking = with_.memory.asking(key, now, acquisition.arrived_at);
    if (asking == nullptr) continue;
    if (*asking == nullptr) {
      if (!found.expired) found.expired = key;
    } else if (may_wait && (*asking)->acquisition->arrived_at <= acquisition.arrived_at) {
      found.asking = *asking;
      return found;
    }
  }
  return found;
}

std::optional<Result> SingleFlight::ask(Acquisition& acquisition, Completion& completion,
                                        const DenialMemory::Key& expired, Instant now) {
  auto flight = flights_.borrow(*this);
  flight->acquisition = &acquisition;
  flight->caller = &completion;
  flight->demand = expired;
  *with_.memory.asking(expired, now, acquisition.arrived_at) = &*flight;
  // No other request can begin to wait during the call, so none waits if it throws.
  std::optional<Result> result;
  try {
    result = next_.acquire(acquisition, *flight, now);
  } catch (...) {
    with_.memory.land(expired, *flight, false);
    throw;
  }
  if (result) {
    with_.memory.land(expired, *flight, false);
  } else {
    flight.keep();
  }
  return result;
}

/// The answer has arrived, or never will. Completes the request that asked first: the next denial
/// is remembered from its result, and denies those that wait.
void SingleFlight::land(Flight& flight, const Result& result, Instant now) {
  const bool is_answered = result.error == Error::none && result.decider == Decider::redis;
  with_.memory.land(flight.demand, flight, is_answered && leaves_enough(*flight.acquisition));
  flight.caller->complete(result, now);
  // All waiting requests leave the ring; later ones do not wait for this flight any more.
  Flight waiting(*this);
  if (flight.is_linked()) {
    waiting.link_before(flight);
    flight.unlink();
  }
  flights_.give_back(flight);
  while (waiting.is_linked()) {
    Flight& first = *waiting.next;
    first.unlink();
    decide_again(first, now);
  }
}

void SingleFlight::decide_again(Flight& waiting, Instant now) {
  Acquisition& acquisition = *waiting.acquisition;
  Completion& caller = *waiting.caller;
  flights_.give_back(waiting);
  if (const auto result = recall_or_acquire(acquisition, caller, now))
    caller.complete(*result, now);
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
