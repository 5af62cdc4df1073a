// Controls what one worker asks of one Redis server: how many questions are in flight, and whether
// any are sent. Pure, with the time as an argument; belongs to one worker.
//
// The limit of questions in flight follows the latency, as the congestion window of TCP does
// (additive increase, multiplicative decrease; V. Jacobson, "Congestion Avoidance and Control",
// SIGCOMM 1988). It aims at a latency half way between the smallest one and the timeout. More
// questions would only wait in Redis, and their answers would come too late. It is reduced once per
// round trip.
//
// Open: no questions are sent, except for one every retry_after that tests the server. It opens
// when
// - nothing at all has arrived since a question was sent that has timed out. Any reply closes it
//   again, also one that is late. So a stall counts once, and no longer than it lasts. Latencies of
//   questions that were sent before its end do not show the load, and are ignored.
// - there is no connection. On a new one the test is due at once, unless errors had opened it.
// - consecutive questions were answered with errors, or lost with their connection. Errors of
//   questions that were in flight together count once. A decision closes it again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace weir::store {

class NodeControl {
 public:
  /// With the values of weir_store_breaker_state.
  enum class State : std::uint8_t {
    closed,
    half_open,  ///< one question tests the server
    open,
  };
  enum class Permission : std::uint8_t {
    granted,
    limited,  ///< as many questions are in flight as are answered in time
    refused,  ///< open
  };
  struct Options {
    Duration timeout{0};      ///< of a question
    int failures = 1;         ///< consecutive errors that open it, at least 1
    Duration retry_after{0};  ///< from opening until a question tests the server
  };
  /// A question when it was sent.
  struct Sent {
    Instant at{};
    std::size_t in_flight = 0;  ///< questions without a reply, including this one
  };

  explicit NodeControl(const Options& options)
      : options_(options), least_latency_(options.timeout) {}

  /// Replaces both; an open control counts from the time at which it opened.
  void set(int failures, Duration retry_after) {
    options_.failures = failures;
    options_.retry_after = retry_after;
  }

  /// Whether another question may be sent. If granted, its result must be reported below.
  /// `in_flight`: questions without a reply, also those that have timed out.
  Permission permission(Instant now, std::size_t in_flight);
  /// Replies of any kind have arrived, in time or late. To be called before permission() and before
  /// the result of a question.
  void on_replies(Instant now);
  /// A question could not be sent, because there is no connection. Opens it; the first replies on
  /// another connection let a question test at once whether the server decides.
  void on_no_connection(Instant now);
  /// A question was decided in time.
  void on_decision(const Sent& sent, Instant now);
  /// A question was answered with an error, or lost with its connection.
  void on_error(const Sent& sent, Instant now);
  /// A question was not answered in time. `in_flight`: as for permission().
  void on_timeout(const Sent& sent, Instant now, std::size_t in_flight);

  /// Whether the questions in flight use at least half of the limit. Then a question does not wait
  /// longer if it is sent with the next ones, and the server has less work: otherwise each reply
  /// makes room for a small call (as in "Window and Acknowledgement Strategy in TCP", RFC 813).
  bool is_crowded(std::size_t in_flight) const {
    return state_ == State::closed && 2.0 * static_cast<double>(in_flight) >= limit_;
  }
  State state() const { return state_; }
  /// Whether it is open because nothing arrives.
  bool is_silent() const { return is_silent_; }
  /// The most questions in flight.
  std::size_t limit() const { return static_cast<std::size_t>(limit_); }

  static constexpr std::size_t least_limit = 2;
  static constexpr std::size_t greatest_limit = 4096;

 private:
  bool is_of_the_past(const Sent& sent) const;
  void open(Instant now);
  void grow(const Sent& sent, Duration latency);
  void reduce(const Sent& sent, Instant now, double wanted);
  Duration wanted_latency() const { return (options_.timeout + least_latency_) / 2; }

  Options options_;
  State state_ = State::closed;
  bool is_silent_ = false;
  bool is_unconnected_ = false;
  int failures_ = 0;      ///< in a row
  Instant opened_at_{};   ///< while open
  Instant tested_at_{};   ///< while half-open
  Instant granted_at_{};  ///< while closed
  Instant replied_at_{};  ///< when replies were last reported
  Instant resumed_at_{};  ///< the end of the last silence
  Instant failed_at_{};   ///< when a failure was last counted
  double limit_ = greatest_limit;
  Instant reduced_at_{};    ///< when the limit was last reduced
  Duration least_latency_;  ///< without other questions in the way; the timeout if not known
};

}  // namespace weir::store
