// Tables and charts of the page.
#include "replay/page_parts.hpp"

#include "catch.hpp"

namespace weir::replay {

TEST_CASE("a table has a caption, headings and escaped texts") {
  std::string out;
  {
    PageTable table(out, "A<b>", 2, {"name", "key", "n"});
    table.row(std::string("<img>"),
              {{"\"&'", PageCell::Kind::key}, {"50 %", PageCell::Kind::denied_bar, 0.5}}, true);
  }
  CHECK(out ==
        "<div class=\"table\"><table><caption>A&lt;b&gt;</caption>\n<thead><tr><th "
        "scope=\"col\" class=\"text\">name</th><th scope=\"col\" class=\"text\">key</th>"
        "<th scope=\"col\">n</th></tr></thead>\n<tbody>\n<tr class=\"choice\"><th "
        "scope=\"row\">&lt;img&gt;</th>"
        "<td class=\"text key\">&quot;&amp;&#39;</td><td><svg viewBox=\"0 0 100 1\" "
        "preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\"><rect class=\"denied\" width=\"50.00\" height=\"1\"/></svg> 50 "
        "%</td></tr>\n"
        "</tbody></table></div>\n");
}

TEST_CASE("a chart has a bar for each share that is not 0") {
  std::string out;
  append_chart(
      out,
      {{.style = "denied", .shares = {1, 0, 0.000001}}, {.style = "keys", .shares = {0.5, 0, 2}}},
      false, 1);
  const auto count = [&](std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = out.find(text, at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  CHECK(count("class=\"denied\"") == 2);
  CHECK(count("class=\"keys\"") == 2);
  CHECK(count("class=\"choice\"") == 1);
  CHECK(count("height=\"100.00\"") == 3);
  CHECK(count("height=\"0.80\"") == 1);  // visible
}

}  // namespace weir::replay
