// The clock of a loop: read once in a pass, because many requests take a step in each.
//
// A reading is at most as old as the pass, and readings never go back. Used from its loop only.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "loop/poller.hpp"

namespace weir::loop {

class PassClock {
 public:
  /// `clock` outlives this one.
  PassClock(asio::io_context& io, const MonotonicClock& clock)
      : clock_(clock), poller_(asio::use_service<Poller>(io)) {}

  /// The reading of this pass; outside of a pass of the poller, such as in a timer, a new one.
  Instant now() { return poller_.pass() == pass_ && pass_ != 0 ? reading_ : read(); }
  /// A new reading, for the measurement of something that takes less than a pass. now() returns it
  /// until the pass ends.
  Instant read() {
    pass_ = poller_.pass();
    return reading_ = clock_.now();
  }

 private:
  const MonotonicClock& clock_;
  Poller& poller_;
  std::uint64_t pass_ = 0;  ///< of the reading; 0: taken outside of a pass
  Instant reading_{};
};

}  // namespace weir::loop
