// Positions in the file of the keys whose values are used after the load: addresses that are
// listened on, files that are opened. Values; thread-safe.
#pragma once

#include <map>
#include <string>

#include "config/diagnostic.hpp"
#include "config/document.hpp"

namespace weir::config {

class Positions {
 public:
  void add(std::string path, Position position) { positions_[std::move(path)] = position; }
  /// A problem with the value at `path`, with its position if that is known.
  Diagnostic problem(std::string path, std::string message) const {
    const auto found = positions_.find(path);
    const Position position = found == positions_.end() ? Position{} : found->second;
    return {.line = position.line,
            .column = position.column,
            .key_path = std::move(path),
            .message = std::move(message)};
  }

 private:
  std::map<std::string, Position> positions_;
};

}  // namespace weir::config
