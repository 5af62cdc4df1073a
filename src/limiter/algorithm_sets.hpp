// Which algorithms the claims of one request can have together: for each such set the shared store
// keeps a script ready.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"

namespace weir::limiter {

/// One bit an algorithm, 1 << Algorithm; every set that some request can come to, once. A limit
/// whose identity may be absent is in one set and not in another.
std::vector<std::uint8_t> algorithm_sets(const config::Config& config);

}  // namespace weir::limiter
