// Tables of text.
#include "replay/text_table.hpp"

#include "catch.hpp"

namespace weir::replay {

TEST_CASE("columns are as wide as their widest cell, and no line ends with blanks") {
  std::string out;
  append_table(out, {{"A", "B", "N"}, {"aa", "b", "1"}, {"a", "", "100"}, {"a", "b", ""}}, 2);
  CHECK(out == "\nA   B    N\naa  b    1\na      100\na   b\n");
}

}  // namespace weir::replay
