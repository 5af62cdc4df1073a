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
  Counter settlements_lost;            ///< of units that outlived their lease, or without memory
  Counter holds_outlived;              ///< units of this worker whose lease ended while in flight
  Counter holds_expired;               ///< units of any worker that a script of this one ended
  Gauge held;                          ///< units that this worker holds now
};

}  // namespace weir::redis
