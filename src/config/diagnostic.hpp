// A problem or a warning about a configuration: the defect, its position, and the fix.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace weir::config {

/// Lines and columns count from 1, columns in bytes; 0 means the whole file.
struct Position {
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  int line = 0;
  int column = 0;
  std::string key_path;  ///< `policies.per_client.rate`
  std::string message;   ///< the defect and the fix; never contains a secret
  /// `LINE:COLUMN: policies.per_client.rate: message`, without absent parts
  std::string to_string() const {
    std::string out;
    if (line > 0) out += std::to_string(line) + ":" + std::to_string(column) + ": ";
    if (!key_path.empty()) out += key_path + ": ";
    return out += message;
  }
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

inline Diagnostic diagnostic_at(Position position, std::string message, std::string key_path = {}) {
  return {.line = position.line,
          .column = position.column,
          .key_path = std::move(key_path),
          .message = std::move(message)};
}

/// Positions of the keys whose values are used after the load: addresses that are listened on,
/// files that are opened.
class Positions {
 public:
  void add(std::string path, Position position) { positions_[std::move(path)] = position; }
  /// A problem with the value at `path`, with its position if that is known.
  Diagnostic problem(std::string path, std::string message) const {
    const auto found = positions_.find(path);
    const Position position = found == positions_.end() ? Position{} : found->second;
    return diagnostic_at(position, std::move(message), std::move(path));
  }

 private:
  std::map<std::string, Position> positions_;
};

}  // namespace weir::config
