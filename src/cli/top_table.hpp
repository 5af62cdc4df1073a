// The answer of /v1/top as lines of a table. Pure; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

inline constexpr std::size_t top_columns = 9;
using TopRow = std::array<std::string, top_columns>;

struct TopTable {
  std::string summary;         ///< one line: the window and the events of all keys
  std::vector<TopRow> rows{};  ///< the first one has the names of the columns
  std::size_t sorted_by = 0;   ///< the column
};

/// Reads an answer. The column `+/-` is how much the count of the column that sorts the list may be
/// too high. A count of which only a bound is known is `<=N`. Control characters are replaced.
/// Empty: this is not an answer of Weir.
std::optional<TopTable> read_top_table(std::string_view body);

/// Returns the rows with aligned columns. With a width, which is a number of characters, names are
/// cut, and then columns left out, until the lines fit: REQUESTS, DENIED, the column that sorts the
/// list and KEY stay whole.
std::vector<std::string> lines_of(const TopTable& table, std::optional<std::size_t> width = {});

}  // namespace weir::cli
