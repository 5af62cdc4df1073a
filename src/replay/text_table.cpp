#include "replay/text_table.hpp"

#include <algorithm>

namespace weir::replay {

void append_table(std::string& out, const std::vector<TextRow>& rows, std::size_t texts) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TextRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  out += '\n';
  for (const TextRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += i < texts ? row[i] + padding : padding + row[i];
    }
    out.append(line, 0, line.find_last_not_of(' ') + 1).append("\n");
  }
}

}  // namespace weir::replay
