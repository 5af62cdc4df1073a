#include "store/circuit_breaker.hpp"

#include <new>

namespace weir::store {

std::optional<Result> CircuitBreaker::acquire(Acquisition& acquisition, Completion& completion,
                                              Instant now) {
  if (!remote_.is_ready()) {
    counters_.not_connected.add();
    note(Error::not_connected, now);
    return Result{.error = Error::not_connected, .decider = Decider::redis};
  }
  if (!is_let_through(now)) return Result{.error = last_error_, .decider = Decider::redis};
  acquisition.asked_at = now;
  const auto result = ask(acquisition, completion, now);
  if (result) note(result->error, now);
  return result;
}

/// Returns a result also without memory: the breaker waits for the result of each question that it
/// let through.
std::optional<Result> CircuitBreaker::ask(Acquisition& acquisition, Completion& completion,
                                          Instant now) noexcept {
  Forwarded<CircuitBreaker>* asked = nullptr;
  std::optional<Result> result;
  try {
    asked = &asked_.take(*this);
    asked->caller = &completion;
    result = remote_.acquire(acquisition, *asked, now);
  } catch (const std::bad_alloc&) {
    result = Result{.error = Error::out_of_memory, .decider = Decider::redis};
  }
  if (result && asked != nullptr) asked_.give_back(*asked);
  return result;
}

void CircuitBreaker::probe(Instant now) {
  const bool is_deciding = remote_.has_decided() && breaker_.state() == Breaker::State::closed;
  if (is_deciding || probe_.is_awaited || !remote_.is_ready() || !is_let_through(now)) return;
  probe_.is_awaited = true;
  if (const auto result = remote_.probe(probe_, now)) probe_.complete(*result, now);
}

bool CircuitBreaker::is_let_through(Instant now) {
  const bool granted = breaker_.lets_through(now);
  publish_state();
  return granted;
}

void CircuitBreaker::answer(Forwarded<CircuitBreaker>& asked, const Result& result, Instant now) {
  note(result.error, now);
  Completion& caller = *asked.caller;
  asked_.give_back(asked);
  caller.complete(result, now);
}

void CircuitBreaker::note(Error error, Instant now) {
  if (error == Error::none) {
    breaker_.succeeded();
    return publish_state();
  }
  last_error_ = error;
  const bool opened = breaker_.failed(now);
  publish_state();
  // If the server is silent, a new connection may reach another one. A slow server would only
  // become slower.
  if (opened && error == Error::timeout && remote_.is_silent()) remote_.reconnect();
}

}  // namespace weir::store
