// Decides when a signal is exported, when a request is sent again, and when it is given up (OTLP
// specification, "Failures" and "OTLP/HTTP Throttling"). Events and instants in, actions out: pure.
//
// At most one request is in progress. One that fails for a passing reason is sent again after a
// pause that doubles, or after Retry-After, for at most `patience` after its first attempt. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "telemetry/export_answer.hpp"

namespace weir::telemetry {

/// The pause after `failures` consecutive failures (at least one): 1 s, doubled with each up to
/// 30 s. Its upper half is jitter.
Duration pause_after(int failures, std::uint64_t random);

class ExportMachine {
 public:
  static constexpr Duration patience = std::chrono::minutes(1);
  /// A longer Retry-After counts as this.
  static constexpr Duration longest_retry_after = std::chrono::minutes(10);

  enum class Action : std::uint8_t {
    nothing,
    take,    ///< make a request of what waits, and send it; call sent() or took_nothing()
    resend,  ///< send the last request again; sent() is implied
  };
  enum class Ending : std::uint8_t {
    done,      ///< the collector has the request
    retries,   ///< keep the request: it is sent again
    given_up,  ///< drop the request
  };

  /// `interval`: between two exports of what has been collected.
  ExportMachine(Duration interval, Instant now) : interval_(interval), due_at_(now + interval) {}

  /// Counts from `now` on.
  void set_interval(Duration interval, Instant now);
  /// `has_batch`: as much waits as one request may have, so it need not wait for the interval.
  Action next(Instant now, bool has_batch);
  /// A request that was taken has been sent.
  void sent(Instant now);
  void took_nothing(Instant now) { due_at_ = now + interval_; }

  /// The request in progress has ended. `retry_after`: of the answer.
  Ending ended(ExportOutcome outcome, std::optional<Duration> retry_after, Instant now,
               std::uint64_t random);

  bool is_sending() const { return state_ == State::sending; }
  /// True if a request waits to be sent again.
  bool is_retrying() const { return state_ == State::retrying; }

 private:
  enum class State : std::uint8_t { idle, sending, retrying };

  Duration interval_;
  State state_ = State::idle;
  Instant due_at_;
  Instant not_before_{};  ///< nothing is sent earlier, after a failure
  Instant first_sent_at_{};
  int failures_ = 0;  ///< consecutive ones
};

}  // namespace weir::telemetry
