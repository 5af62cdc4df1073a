#include "config/table.hpp"

namespace weir::config {

void report_unknown_keys(const Cursor& in, std::span<const std::string_view> known) {
  for (const Entry& entry : in.node().entries) {
    bool is_known = false;
    for (const std::string_view name : known)
      is_known = is_known || name == entry.key;
    if (is_known) continue;
    const std::string more =
        entry.key == "<<"
            ? "; merge keys are not part of YAML 1.2, use an alias for the whole value"
            : hint(entry.key, known);
    in.at(entry).error_at(entry.position, "unknown key " + in_quotes(entry.key) + more);
  }
}

}  // namespace weir::config
