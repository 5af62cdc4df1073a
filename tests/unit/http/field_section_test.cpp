#include "http/field_section.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::http {
namespace {

std::vector<Field> listed(const FieldSection& section) {
  std::vector<Field> fields;
  for (const Field field : section)
    fields.push_back(field);
  return fields;
}

TEST_CASE("a section has its fields in their order, whatever their values contain") {
  FieldSection section{{"A", "x: 1"}, {"Link", ""}};
  section.add("a", ": ");
  CHECK(section.size() == 3);
  CHECK(listed(section) == std::vector<Field>{{"A", "x: 1"}, {"Link", ""}, {"a", ": "}});
  CHECK(lines_of(section) == "A: x: 1\r\nLink: \r\na: : \r\n");
  CHECK(no_fields.empty());
  CHECK(lines_of(no_fields).empty());
}

TEST_CASE("names are found whole, and in any case") {
  const FieldSection section{{"A", "x-frame: 1"}, {"X-Frame-Options", "A"}};
  CHECK(section.contains("a"));
  CHECK(section.contains("x-frame-options"));
  CHECK_FALSE(section.contains("x-frame"));
  CHECK_FALSE(section.contains(""));
  CHECK_FALSE(no_fields.contains("a"));
}

TEST_CASE("a writer builds values from pieces") {
  FieldSection section{{"A", "1"}};
  {
    FieldSection::Writer out(section);
    out.begin("B").number(-5).add(';').add("q");
    out.begin("Empty");
    out.begin("C").add("last");
  }
  { FieldSection::Writer without_fields(section); }
  CHECK(listed(section) ==
        std::vector<Field>{{"A", "1"}, {"B", "-5;q"}, {"Empty", ""}, {"C", "last"}});
}

TEST_CASE("sections are joined, cleared and compared") {
  FieldSection section{{"A", "1"}};
  section.add(FieldSection{{"B", "2"}, {"C", "3"}});
  section.add(FieldSection{{"D", "4"}});
  CHECK(section == FieldSection{{"A", "1"}, {"B", "2"}, {"C", "3"}, {"D", "4"}});
  CHECK_FALSE(section == FieldSection{{"A", "1"}, {"B", "2"}, {"C", "3"}, {"D", "5"}});
  section.clear();
  CHECK(section.empty());
  section.add("E", "5");
  CHECK(section == FieldSection{{"E", "5"}});
}

}  // namespace
}  // namespace weir::http
