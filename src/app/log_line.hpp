// A line for the log, made by code that does not write it.
#pragma once

#include <cstdint>
#include <string>

namespace weir::app {

struct LogLine {
  enum class Level : std::uint8_t { info, warning } level;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

}  // namespace weir::app
