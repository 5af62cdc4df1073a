// The answer of /v1/top as lines of a table. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

struct TopTable {
  std::string summary;            ///< one line: the window and the events of all keys
  std::vector<std::string> rows;  ///< the first one has the names of the columns
};

/// Reads an answer. The column `+/-` is how much the count of the column that sorts the list may be
/// too high. A count of which only a bound is known is `<=N`. Control characters are replaced.
/// Empty: this is not an answer of Weir.
std::optional<TopTable> read_top_table(std::string_view body);

}  // namespace weir::cli
