// A circuit breaker for the remote store. Pure, with the time as an argument; belongs to one
// worker.
//
// Closed: opens after consecutive errors. Open: after retry_after it lets one question through and
// is half-open. Half-open: closes if that question succeeds, and opens again if it fails. While it
// is open, results of earlier questions are ignored.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace weir::store {

class Breaker {
 public:
  /// With the values of weir_store_breaker_state.
  enum class State : std::uint8_t { closed, half_open, open };

  /// `failures`: consecutive ones that open it, at least 1. `retry_after`: from opening until one
  /// question is let through.
  Breaker(int failures, Duration retry_after) : limit_(failures), retry_after_(retry_after) {}

  /// Replaces both values; an open breaker counts from the time at which it opened.
  void set(int failures, Duration retry_after) {
    limit_ = failures;
    retry_after_ = retry_after;
  }

  State state() const { return state_; }

  /// Whether a question may be sent. If so, its result must be reported.
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

  /// Returns true if this failure opened it.
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
