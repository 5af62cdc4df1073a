// How many cores this process may use: `workers: auto`.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::config {

/// The share a cgroup grants, in whole cores, at least 1, from the two numbers of its cpu.max
/// (`200000 100000`); nothing for `max` or text that is something else.
std::optional<std::size_t> cores_of_cpu_max(std::string_view cpu_max);

/// The cores this process may be scheduled on, or fewer where its cgroup (v2) grants less time.
std::size_t available_cores();

}  // namespace weir::config
