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

/// The counters of the circuit breaker of one node.
struct BreakerCounters {
  Counter not_connected;      ///< requests without a decision because there was no connection
  Counter limited;            ///< the same because too many questions were in flight
  Counter errors;             ///< questions that were sent and not decided
  DurationHistogram latency;  ///< of decisions, from the question
  std::atomic<NodeControl::State> state{NodeControl::State::closed};
  std::atomic<std::size_t> in_flight{0};        ///< questions without a reply
  std::atomic<std::size_t> in_flight_limit{0};  ///< the largest number allowed
};

struct ChainCounters {
  Counter remembered;  ///< requests denied by a remembered denial
  Counter leased;      ///< requests decided by leases
  Counter alone;       ///< requests decided by on_failure
  /// Requests of `alone` that on_failure: deny answers 503, by the Error of the remote store.
  std::array<Counter, error_count> undecided;
};

}  // namespace weir::store
