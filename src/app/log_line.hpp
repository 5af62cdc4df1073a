// A line for the log: pure code makes it, and its caller writes it.
#pragma once

#include <cstdint>
#include <string>

namespace weir::app {

struct LogLine {
  enum class Level : std::uint8_t { info, warning } level;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// Writes the line to the log. Thread-safe.
void write_to_log(const LogLine& line);

}  // namespace weir::app
