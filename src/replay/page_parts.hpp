// Tables and charts of HTML. Texts are escaped, numbers are drawn as inline SVG. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weir::replay {

/// A cell of a table: a text, or a bar and a text.
struct PageCell {
  enum class Kind : std::uint8_t { number, text, key, denied_bar, keys_bar };
  std::string text{};
  Kind kind = Kind::number;
  double share = 0;  ///< of a bar, from 0 to 1

  PageCell(std::string its_text, Kind its_kind = Kind::number, double its_share = 0)
      : text(std::move(its_text)), kind(its_kind), share(its_share) {}
};

/// A table of which the first column names the row. The first `texts` columns are texts.
class PageTable {
 public:
  PageTable(std::string& out, std::string_view caption, std::size_t texts,
            std::initializer_list<std::string_view> columns);
  ~PageTable() { out_ += "</tbody></table></div>\n"; }
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  void row(const PageCell& name, const std::vector<PageCell>& cells, bool is_choice = false);

 private:
  std::string& out_;
};

/// Bars side by side, each from 0 to 1 of the height.
struct PageBars {
  std::string style;  ///< class of the bars
  std::vector<double> shares{};
};

/// Appends a chart of groups of bars: the i-th bar of each of them is in the i-th group. Stacked:
/// they are drawn over each other. `choice`: the group that is marked; beyond the last: none.
void append_chart(std::string& out, const std::vector<PageBars>& bars, bool is_stacked,
                  std::size_t choice);

}  // namespace weir::replay
