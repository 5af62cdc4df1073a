#include "store/circuit_breaker.hpp"

#include <new>
#include <utility>

namespace weir::store {

std::optional<Result> CircuitBreaker::acquire(Acquisition& acquisition, Completion& completion,
                                              Instant now) {
  note_replies(now);
  if (!remote_.is_ready()) {
    counters_.not_connected.add();
    last_error_ = Error::not_connected;
    control_.on_no_connection(now);
    publish();
    return Result{.error = Error::not_connected, .decider = Decider::redis};
  }
  switch (control_.permission(now, remote_.unanswered())) {
    case NodeControl::Permission::granted:
      break;
    case NodeControl::Permission::limited:
      counters_.limited.add();
      return Result{.error = Error::overloaded, .decider = Decider::redis};
    case NodeControl::Permission::refused:
      // It may have opened just now: nothing arrives, and no question has timed out yet.
      if (last_error_ == Error::none || control_.is_silent()) last_error_ = Error::timeout;
      publish();
      return Result{.error = last_error_, .decider = Decider::redis};
  }
  if (control_.state() != NodeControl::State::closed) publish();
  acquisition.asked_at = now;
  return ask(acquisition, completion, now);
}

/// Returns a result also without memory: the control waits for the result of each question that it
/// granted.
std::optional<Result> CircuitBreaker::ask(Acquisition& acquisition, Completion& completion,
                                          Instant now) noexcept {
  Question* question = nullptr;
  const NodeControl::Sent sent = sent_at(now);
  acquisition.may_gather = control_.is_crowded(sent.in_flight);
  std::optional<Result> result;
  try {
    question = &asked_.take(*this);
    question->caller = &completion;
    question->sent = sent;
    result = remote_.acquire(acquisition, *question, now);
  } catch (const std::bad_alloc&) {
    result = Result{.error = Error::out_of_memory, .decider = Decider::redis};
  }
  if (!result) return result;
  if (question != nullptr) asked_.give_back(*question);
  note(sent, result->error, now);
  return result;
}

void CircuitBreaker::probe(Instant now) {
  note_replies(now);
  publish();
  counters_.in_flight.store(remote_.unanswered(), std::memory_order_relaxed);
  counters_.in_flight_limit.store(control_.limit(), std::memory_order_relaxed);
  const bool is_deciding = remote_.has_decided() && control_.state() == NodeControl::State::closed;
  if (is_deciding || probe_.is_awaited || !remote_.is_ready()) return;
  if (control_.permission(now, remote_.unanswered()) != NodeControl::Permission::granted) return;
  publish();
  probe_.is_awaited = true;
  probe_.sent = sent_at(now);
  std::optional<Result> result;
  try {
    result = remote_.probe(probe_, now);
  } catch (const std::bad_alloc&) {
    result = Result{.error = Error::out_of_memory, .decider = Decider::redis};
  }
  if (result) probe_.complete(*result, now);
}

/// Late replies and those of a handshake complete no question, but they show that the server lives.
void CircuitBreaker::note_replies(Instant now) {
  if (!remote_.is_ready()) return;
  const std::uint64_t replies = remote_.replies();
  if (std::exchange(replies_seen_, replies) != replies) control_.on_replies(now);
}

NodeControl::Sent CircuitBreaker::sent_at(Instant now) const {
  return {.at = now, .in_flight = remote_.unanswered() + 1};
}

void CircuitBreaker::answer(Question& question, const Result& result, Instant now) {
  note(question.sent, result.error, now);
  Completion& caller = *question.caller;
  asked_.give_back(question);
  caller.complete(result, now);
}

void CircuitBreaker::note(const NodeControl::Sent& sent, Error error, Instant now) {
  note_replies(now);
  const bool was_tested = control_.state() == NodeControl::State::half_open;
  // A node that refuses a slot decides the others.
  if (error == Error::none || error == Error::redirected) {
    counters_.latency.observe(now - sent.at);
    control_.on_decision(sent, now);
    return publish();
  }
  counters_.errors.add();
  last_error_ = error;
  if (error == Error::timeout) {
    control_.on_timeout(sent, now, remote_.unanswered());
  } else {
    control_.on_error(sent, now);
  }
  publish();
  // A new connection may reach another server. A slow one would only become slower.
  const bool has_failed_test = was_tested && control_.state() == NodeControl::State::open;
  if (has_failed_test && control_.is_silent() && remote_.is_silent()) remote_.reconnect();
}

void CircuitBreaker::publish() {
  counters_.state.store(control_.state(), std::memory_order_relaxed);
}

}  // namespace weir::store
