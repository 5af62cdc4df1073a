#include "http/field_edits.hpp"

#include <string>

#include "catch.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::http {
namespace {

std::string to_answer(const FieldEdits& edits, const FieldSection& own, bool is_error) {
  std::string names;
  for (std::size_t i = 0; i < edits.added().size(); ++i) {
    if (edits.adds_to_answer(i, own, is_error)) names.append(edits.added()[i].name).append(" ");
  }
  return names;
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
  CHECK(lines_of(edits.added()) == "X-Set: 1\r\nx-add: 2\r\n");
  CHECK(FieldEdits().is_empty());
  CHECK(FieldEdits().added().empty());
  CHECK_FALSE(FieldEdits({}, {}, {"a"}).is_empty());
}

TEST_CASE("an answer of Weir keeps its own fields, and an error is not described as another body") {
  const FieldEdits edits({{"Cache-Control", "public"},
                          {"Content-Type", "a/b"},
                          {"Date", "now"},
                          {"X-Frame-Options", "DENY"}},
                         {{"Link", "<a>"}}, {});
  CHECK(to_answer(edits, {}, false) == "Cache-Control X-Frame-Options Link ");
  CHECK(to_answer(edits, {}, true) == "X-Frame-Options Link ");
  CHECK(to_answer(edits, {{"cache-control", "no-store"}, {"link", "<b>"}}, false) ==
        "X-Frame-Options ");
}

}  // namespace
}  // namespace weir::http
