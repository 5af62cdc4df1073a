#include "http/field_edits.hpp"

#include <string>

#include "catch.hpp"

namespace weir::http {
namespace {

std::string to_answer(const FieldEdits& edits, std::string_view own, bool is_error) {
  std::string text = ">";
  {
    Appender out(text);
    edits.append_to_answer(out, own, is_error);
  }
  return text;
}

TEST_CASE("edits take out what they set or remove, and write what they set or add") {
  const FieldEdits edits({{"X-Set", "1"}}, {{"x-add", "2"}}, {"X-Gone"});
  CHECK_FALSE(edits.is_empty());
  CHECK(edits.takes_out("x-set"));
  CHECK(edits.takes_out("x-gone"));
  CHECK_FALSE(edits.takes_out("x-add"));
  CHECK_FALSE(edits.takes_out("x-sets"));
  CHECK(edits.writes("X-ADD"));
  CHECK(edits.writes("x-set"));
  CHECK_FALSE(edits.writes("x-gone"));
  CHECK(edits.lines() == "X-Set: 1\r\nx-add: 2\r\n");
  CHECK(FieldEdits().is_empty());
  CHECK(FieldEdits().lines().empty());
  CHECK_FALSE(FieldEdits({}, {}, {"a"}).is_empty());
}

TEST_CASE("an answer of Weir keeps its own fields, and an error is not described as another body") {
  const FieldEdits edits({{"Cache-Control", "public"},
                          {"Content-Type", "a/b"},
                          {"Date", "now"},
                          {"X-Frame-Options", "DENY"}},
                         {{"Link", "<a>"}}, {});
  CHECK(to_answer(edits, "", false) ==
        ">Cache-Control: public\r\nX-Frame-Options: DENY\r\nLink: <a>\r\n");
  CHECK(to_answer(edits, "", true) == ">X-Frame-Options: DENY\r\nLink: <a>\r\n");
  CHECK(to_answer(edits, "cache-control: no-store\r\nlink: <b>\r\n", false) ==
        ">X-Frame-Options: DENY\r\n");
}

TEST_CASE("field lines are searched by their names") {
  constexpr std::string_view lines = "A: x-frame: 1\r\nX-Frame-Options: A:\r\n";
  CHECK(has_field_line(lines, "a"));
  CHECK(has_field_line(lines, "x-frame-options"));
  CHECK_FALSE(has_field_line(lines, "x-frame"));
  CHECK_FALSE(has_field_line("", "a"));
  CHECK_FALSE(has_field_line("a", "b"));
}

}  // namespace
}  // namespace weir::http
