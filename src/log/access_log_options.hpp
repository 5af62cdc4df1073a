// Which lines the access log has, and the file they are written to.
#pragma once

#include <cstdint>
#include <string>

namespace weir::log {

struct AccessLogOptions {
  enum class Only : std::uint8_t { all, denied };
  enum class Format : std::uint8_t { json, text };
  std::string path = "-";  ///< "-" standard output, "off" none, else a file
  double sample = 1.0;     ///< fraction of lines written; 0 < sample <= 1
  Only only = Only::all;
  Format format = Format::json;
  friend bool operator==(const AccessLogOptions&, const AccessLogOptions&) = default;
};

}  // namespace weir::log
