// Counters of the links between the limiter and a remote store. Written by one worker, read by a
// scrape.
#pragma once

#include <atomic>

#include "base/counters.hpp"
#include "store/breaker.hpp"

namespace weir::store {

struct ChainCounters {
  Counter remembered;     ///< requests denied by a remembered denial
  Counter alone;          ///< requests decided by on_failure
  Counter not_connected;  ///< `alone` because there was no connection
  std::atomic<Breaker::State> breaker{Breaker::State::closed};
};

}  // namespace weir::store
