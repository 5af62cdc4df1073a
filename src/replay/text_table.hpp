// Tables of text for terminals. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weir::replay {

using TextRow = std::vector<std::string>;

/// Appends a blank line and the rows, the first of which is the header. The first `texts` columns
/// are aligned at the left, the others at the right.
void append_table(std::string& out, const std::vector<TextRow>& rows, std::size_t texts);

}  // namespace weir::replay
