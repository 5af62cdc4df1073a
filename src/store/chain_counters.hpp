// Counters of the links between the limiter and a remote store. Written by one worker, read by a
// scrape.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/counters.hpp"
#include "store/error.hpp"
#include "store/node_control.hpp"

namespace weir::store {

struct ChainCounters {
  Counter remembered;     ///< requests denied by a remembered denial
  Counter alone;          ///< requests decided by on_failure
  Counter not_connected;  ///< `alone` because there was no connection
  Counter limited;        ///< `alone` because too many questions were in flight
  /// Requests of `alone` that on_failure: deny answers 503, by the Error of the remote store.
  std::array<Counter, error_count> undecided;
  std::atomic<NodeControl::State> breaker{NodeControl::State::closed};
  std::atomic<std::size_t> in_flight{0};        ///< questions without a reply
  std::atomic<std::size_t> in_flight_limit{0};  ///< the largest number allowed
};

}  // namespace weir::store
