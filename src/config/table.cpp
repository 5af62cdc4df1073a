#include "config/table.hpp"

#include <algorithm>

namespace weir::config {

std::vector<std::string_view> report_unknown_keys(const Cursor& in,
                                                  std::span<const std::string_view> known) {
  std::vector<std::string_view> meant;
  for (const Entry& entry : in.node().entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string more =
        entry.key == "<<"
            ? "; merge keys are not part of YAML 1.2, use an alias for the whole value"
            : in.hint_at(entry.key, known);
    in.at(entry).error_at(entry.position, "unknown key " + in_quotes(entry.key) + more);
    if (meant.size() < known.size()) meant.push_back(closest(entry.key, known));
  }
  return meant;
}

}  // namespace weir::config
