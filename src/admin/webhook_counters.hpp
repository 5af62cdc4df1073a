// The counters of the webhook of events. The server's thread writes, the admin server reads.
#pragma once

#include "base/counters.hpp"

namespace weir::admin {

struct WebhookCounters {
  Counter delivered;
  Counter queue_full;  ///< dropped: too many wait
  Counter expired;     ///< dropped: not delivered in time
  Counter rejected;    ///< dropped: the receiver does not accept it
  Counter removed;     ///< dropped: the configuration has no webhook any more
  Counter shutdown;    ///< dropped: the process has ended
  Counter failures;    ///< requests that failed, after which the event is sent again
  Gauge pending;       ///< events that wait or are being sent
};

}  // namespace weir::admin
