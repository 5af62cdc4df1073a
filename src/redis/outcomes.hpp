// How the questions of one store ended: whether Redis decides, the last errors, and the counters.
// For /readyz, the metrics and the log. Used on the loop only.
#pragma once

#include <array>
#include <new>
#include <string>
#include <string_view>

#include "base/counters.hpp"
#include "redis/error_reply.hpp"
#include "store/error.hpp"
#include "store/store.hpp"

namespace weir::redis {

/// Counters of one store. Read by a scrape; written by the worker.
struct StoreCounters {
  Counter questions;                   ///< sent, those repeated after NOSCRIPT not included
  Counter calls;                       ///< commands that sent them: one may have several
  Counter joined_calls;                ///< those of them with several
  Counter errors[store::error_count];  ///< by store::Error
  Counter connects;                    ///< handshakes that succeeded
  Counter late_answers;                ///< arrived after their deadline
  Counter settlements_lost;            ///< of units that outlived their lease, or without memory
  Counter holds_outlived;              ///< units of this worker whose lease ended while in flight
  Counter holds_expired;               ///< units of any worker that a script of this one ended
  Gauge held;                          ///< units that this worker holds now
};

class Outcomes {
 public:
  explicit Outcomes(StoreCounters& counters) : counters_(counters) {}

  /// A connection has become ready: nothing was decided on it.
  void on_ready() {
    has_decided_ = false;
    last_error_.clear();
    last_replies_[static_cast<std::size_t>(store::Error::redirected)].clear();
    counters_.connects.add();
  }
  /// A reply in time that was an error, or could not be parsed or used. The text may have any
  /// length and content; without memory only its beginning is kept, which has the code.
  void on_error_reply(store::Error error, std::string_view text) noexcept {
    std::string& last_reply = last_replies_[static_cast<std::size_t>(error)];
    try {
      last_error_ = printable(text);
      last_reply = last_error_;
    } catch (const std::bad_alloc&) {
      // A text of this size is in the string itself.
      last_error_ = printable(text.substr(0, std::string().capacity()));
      last_reply = last_error_;
    }
  }
  /// A reply in time that was no error.
  void on_reply() {
    if (!last_error_.empty()) last_error_.clear();
  }
  void on_late_reply() { counters_.late_answers.add(); }
  /// A question is about to be completed with this result. That of a key that was forgotten has
  /// neither an error nor a decision.
  void on_result(const store::Result& result) {
    if (result.error != store::Error::none) {
      has_decided_ = false;
      counters_.errors[static_cast<std::size_t>(result.error)].add();
    } else if (result.decided != 0) {
      has_decided_ = true;
    }
  }

  /// Whether the last result of this connection was a decision.
  bool has_decided() const { return has_decided_; }
  /// The text of the last reply in time; empty if it was no error, or if this connection had none.
  const std::string& last_error() const { return last_error_; }
  /// The text of the last error reply of this kind; empty if there was none. That of a redirection
  /// is one of this connection.
  const std::string& last_reply(store::Error error) const {
    return last_replies_[static_cast<std::size_t>(error)];
  }

 private:
  StoreCounters& counters_;
  bool has_decided_ = false;
  std::string last_error_;
  std::array<std::string, store::error_count> last_replies_;  ///< by kind of error
};

}  // namespace weir::redis
