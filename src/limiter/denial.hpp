// The parts of the response to a denied request that the configuration sets.
//
// Made once when a configuration is loaded, then read by all workers.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weir::limiter {

struct DenialBody {
  std::string content_type;
  std::optional<std::string> text;  ///< nothing: the problem document of the denial
  friend bool operator==(const DenialBody&, const DenialBody&) = default;
};

struct Denial {
  /// By preference: the Accept field of the request chooses among several. Empty: the problem
  /// document.
  std::vector<DenialBody> bodies{};
  std::string fields = "Cache-Control: no-store\r\n";  ///< field lines
  friend bool operator==(const Denial&, const Denial&) = default;
};

}  // namespace weir::limiter
