// Waits for the turn of a request that a leaky bucket has delayed.
#pragma once

#include "base/time.hpp"
#include "loop/io.hpp"
#include "proxy/context.hpp"
#include "proxy/responder.hpp"

namespace weir::proxy {

/// Nothing is read meanwhile, so the departure of a client is detected afterwards. Ends early if
/// the exchange is aborted.
loop::Task<> wait_delay(Context& context, const ClientSide& client, Duration duration);

}  // namespace weir::proxy
