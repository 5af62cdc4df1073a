#include "config/diagnostic.hpp"

namespace weir::config {

std::string Diagnostic::to_string() const {
  std::string out;
  if (line > 0) out += std::to_string(line) + ":" + std::to_string(column) + ": ";
  if (!key_path.empty()) out += key_path + ": ";
  return out += message;
}

}  // namespace weir::config
