// The work of a worker because other instances use the same Redis: it announces this one, and
// divides the quotas for the time while Redis does not decide.
#pragma once

#include <cstdint>

#include "app/instance_watch.hpp"
#include "base/time.hpp"
#include "limiter/limiter.hpp"
#include "proxy/context.hpp"
#include "redis/topology.hpp"

namespace weir::app {

/// Announces this process if it is due, and logs whether the other instances have the same limits.
void announce(redis::Topology& redis, InstanceWatch& instances, Instant now);

/// Divides the quotas among so many instances. `logs`: with a line about those that are too small.
void divide_quotas(limiter::Limiter& limiter, std::int64_t replicas, bool logs);

/// Divides the quotas of the running generation again if the number of instances has changed.
void follow_replicas(proxy::Context& context, const InstanceWatch& instances, bool logs) noexcept;

}  // namespace weir::app
