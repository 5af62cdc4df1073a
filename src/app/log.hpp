// The log of the process, on standard error. Thread-safe.
//
// A line is put together here and not by the formatting library, which takes longer to compile than
// most rooms.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weir::app {

/// A line for the log: pure code makes it, and its caller writes it.
struct LogLine {
  enum class Level : std::uint8_t { info, warning, error } level;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// Sets the form of the lines. Called once, before the first line.
void start_log();

void write_to_log(const LogLine& line);

/// Writes a line that consists of these texts, one after the other.
using Texts = std::initializer_list<std::string_view>;
void log_info(Texts texts);
void log_warning(Texts texts);
void log_error(Texts texts);

}  // namespace weir::app
