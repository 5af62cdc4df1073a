// Which algorithms the claims of one request can have together: for each such set the shared store
// keeps a script ready.
#pragma once

#include <span>
#include <vector>

#include "limiter/settings.hpp"
#include "redis/script.hpp"

namespace weir::app {

/// `routes`: the limits of each. Every set that some request can come to, once. A limit whose
/// identity may be absent is in one set and not in another. The last one has all algorithms, for a
/// request that is charged to the limits of several routes.
std::vector<redis::AlgorithmSet> algorithm_sets(
    const limiter::Settings& config, std::span<const std::span<const limiter::Limit>> routes);

}  // namespace weir::app
