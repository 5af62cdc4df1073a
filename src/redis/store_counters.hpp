// Counters of one store.
#pragma once

#include "base/counters.hpp"
#include "store/error.hpp"

namespace weir::redis {

/// Read by a scrape; written by the worker.
struct StoreCounters {
  Counter questions;                   ///< sent, those repeated after NOSCRIPT not included
  Counter errors[store::error_count];  ///< by store::Error
  Counter connects;                    ///< handshakes that succeeded
  Counter late_answers;                ///< arrived after their deadline
  Counter settlements_lost;            ///< of holds that Redis does not have
};

}  // namespace weir::redis
