// Whether the remote store is worth asking: pure, with the time as an argument.
//
// closed -> open after consecutive errors -> half-open after a while, when exactly one question
// goes through -> closed by its success, open again by its failure. Results of questions that were
// sent before it opened change nothing while it is open. Belongs to one worker.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace weir::store {

class Breaker {
 public:
  /// In the order in which weir_store_breaker_state counts: the higher, the worse.
  enum class State : std::uint8_t { closed, half_open, open };

  /// `failures` in a row open it; at least 1. `retry_after`: until a question is let through.
  Breaker(int failures, Duration retry_after) : limit_(failures), retry_after_(retry_after) {}

  /// Replaces both values, also for the time that it has been open already.
  void set(int failures, Duration retry_after) {
    limit_ = failures;
    retry_after_ = retry_after;
  }

  State state() const { return state_; }

  /// Asked right before a question is sent: who is let through has to report how it went.
  bool lets_through(Instant now) {
    if (state_ == State::closed) return true;
    if (state_ == State::half_open || now < opened_at_ + retry_after_) return false;
    state_ = State::half_open;
    return true;
  }

  void succeeded() {
    if (state_ == State::open) return;
    state_ = State::closed;
    failures_ = 0;
  }

  /// True if this failure opened it.
  bool failed(Instant now) {
    if (state_ == State::open) return false;
    if (state_ == State::closed && ++failures_ < limit_) return false;
    state_ = State::open;
    failures_ = 0;
    opened_at_ = now;
    return true;
  }

 private:
  int limit_;
  Duration retry_after_;
  State state_ = State::closed;
  int failures_ = 0;  ///< in a row, while closed
  Instant opened_at_{};
};

}  // namespace weir::store
