// The events that wait for their webhook: when each is sent, how often, and when it is given up.
//
// At most `most_in_flight` requests are sent at a time. After a failure all wait, each failure in a
// row twice as long, and then one request at a time is sent until one succeeds. An event that
// failed goes to the end of the queue, so one that the receiver cannot process delays no other for
// long. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "fetch/request.hpp"

namespace weir::app {

/// The meaning of an answer, or of the lack of one, for the event.
enum class Delivery : std::uint8_t { done, again, rejected };

/// 2xx is done. A request without an answer, 408, 425, 429 and 5xx are sent again. Anything else is
/// a rejection, also a redirect, which is not followed. Pure.
Delivery delivery_of(const Result<fetch::Answer>& answer);

/// Why an event was not delivered, without the URL: "it answered 503". Pure.
std::string undelivered_because(const Result<fetch::Answer>& answer);

class WebhookQueue {
 public:
  static constexpr std::size_t most_waiting = 1024;
  static constexpr std::size_t most_in_flight = 4;
  static constexpr Duration first_pause = std::chrono::seconds(1);
  static constexpr Duration longest_pause = std::chrono::seconds(30);
  static constexpr Duration longest_retry_after = std::chrono::minutes(5);
  /// An event that is not delivered so long after it was added is dropped.
  static constexpr Duration lifetime = std::chrono::minutes(5);

  struct Post {
    std::uint64_t number = 0;
    std::string body{};
    Instant added_at{};
  };

  /// Returns false, and drops it, if `most_waiting` wait.
  bool add(std::string body, Instant now);
  /// Returns the events to send now.
  std::vector<Post> start(Instant now);
  /// When to call start() again; nothing: after the next of the calls below, or of add().
  std::optional<Instant> next_at() const;
  /// Returns how many events were dropped since the last call because their time was over.
  std::size_t take_expired();

  // The result of a request.

  void on_done(std::uint64_t number);
  /// As on_done(): the receiver works.
  void on_rejected(std::uint64_t number) { on_done(number); }
  /// The event is sent again later. `retry_after`: as the receiver asked. `random`: spreads the
  /// instances.
  void on_failed(std::uint64_t number, Instant now, std::optional<Duration> retry_after,
                 std::uint64_t random);

  /// Another receiver is used from now on: no pause is left.
  void on_new_receiver();
  /// Drops all; returns how many there were.
  std::size_t clear();
  std::size_t size() const { return waiting_.size() + in_flight_.size(); }
  bool is_failing() const { return failures_ > 0; }

 private:
  std::size_t most_at_once() const { return is_failing() ? 1 : most_in_flight; }

  std::uint64_t last_number_ = 0;
  std::deque<Post> waiting_;
  std::map<std::uint64_t, Post> in_flight_;
  int failures_ = 0;  ///< pauses in a row
  Instant resumes_at_{};
  Instant asked_until_{};  ///< the latest Retry-After: also a success does not end it
  std::size_t expired_ = 0;
};

}  // namespace weir::app
