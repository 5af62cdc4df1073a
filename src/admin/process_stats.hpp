// Figures of the kernel about this process, for the process_* metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace weir::admin {

struct ProcessStats {
  Duration cpu{0};  ///< user and system
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_descriptors = 0;
  std::uint64_t max_descriptors = 0;
  std::int64_t started_at_s = 0;  ///< Unix time
};

/// The units in which /proc counts.
struct ProcUnits {
  std::int64_t ticks_per_second = 100;
  std::uint64_t page_size = 4096;
  std::int64_t booted_at_s = 0;
};

/// Parses the line of /proc/PID/stat (proc(5)); nothing if it is malformed.
std::optional<ProcessStats> parse_proc_stat(std::string_view line, const ProcUnits& units);

/// Reads the figures of this process. A figure that cannot be read is 0.
ProcessStats read_process_stats();

/// The same without the descriptors, whose number takes long to read if there are many.
ProcessStats read_process_usage();

}  // namespace weir::admin
