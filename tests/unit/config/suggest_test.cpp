#include "config/suggest.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
  struct Case {
    std::string_view a, b;
    std::size_t distance;
  };
  const Case cases[] = {{"", "", 0},           {"", "abc", 3},          {"burst", "burst", 0},
                        {"brust", "burst", 1}, {"brst", "burst", 1},    {"bursts", "burst", 1},
                        {"bxrst", "burst", 1}, {"kitten", "sitting", 3}};
  for (const auto& [a, b, distance] : cases) {
    CAPTURE(a, b);
    CHECK(edit_distance(a, b) == distance);
    CHECK(edit_distance(b, a) == distance);
  }
}

TEST_CASE("the nearest name is suggested, and none that is far") {
  const std::string_view known[] = {"rate", "rates", "burst", "count_rejected"};
  CHECK(closest("brust", known) == "burst");
  CHECK(closest("Rate", known) == "rate");
  CHECK(closest("rats", known) == "rate");
  CHECK(closest("count_reject", known) == "count_rejected");
  CHECK(closest("limit", known).empty());
  CHECK(closest("", known).empty());
  CHECK(closest(std::string(1000, 'r'), known).empty());
  CHECK(hint("brust", known) == "; did you mean \"burst\"?");
  CHECK(hint("limit", known) == "; known here: rate, rates, burst, count_rejected");
  CHECK(hint("limit", {}).empty());
}

TEST_CASE("the password in a quoted URL is not shown") {
  CHECK(in_quotes("redis://user:p@ss@host/1") == "\"redis://***@host/1\"");
  CHECK(in_quotes("user:p@ss@host:1") == "\"***@host:1\"");
  CHECK(in_quotes("a@b://c") == "\"***@b://c\"");
  CHECK(in_quotes("redis://host/1") == "\"redis://host/1\"");
}

TEST_CASE("quoted text stays on one line and is cut between characters") {
  CHECK(in_quotes("a\nb\x1b[31m") == "\"a?b?[31m\"");
  CHECK(in_quotes(std::string(60, 'x')) == "\"" + std::string(60, 'x') + "\"");
  CHECK(in_quotes(std::string(61, 'x')) == "\"" + std::string(60, 'x') + "...\"");
  CHECK(in_quotes(std::string(59, 'x') + "\u00fcy") == "\"" + std::string(59, 'x') + "...\"");
}

}  // namespace
}  // namespace weir::config
