// The number of cores that this process may use: `workers: auto`.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::config {

/// Returns the whole cores that a cgroup allows, at least 1, from the two numbers of its cpu.max
/// (`200000 100000`); nothing for `max` or other text.
std::optional<std::size_t> cores_of_cpu_max(std::string_view cpu_max);

/// Returns the number of cores that this process may be scheduled on, or fewer if its cgroup (v2)
/// allows less time.
std::size_t available_cores();

}  // namespace weir::config
