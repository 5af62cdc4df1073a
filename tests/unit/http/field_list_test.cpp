#include "http/field_list.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::http {
namespace {

std::vector<std::string> elements(std::string_view list) {
  std::vector<std::string> found;
  for_each_element(list, [&](std::string_view element) { found.emplace_back(element); });
  return found;
}

using Elements = std::vector<std::string>;

TEST_CASE("a list is its elements without white space around them") {
  CHECK(elements("a") == Elements{"a"});
  CHECK(elements("a,b") == Elements{"a", "b"});
  CHECK(elements(" a b\t, \tc ") == Elements{"a b", "c"});
}

TEST_CASE("F5: empty elements are passed over, RFC 9110 section 5.6.1.2") {
  CHECK(elements("") == Elements{});
  CHECK(elements(" \t") == Elements{});
  CHECK(elements(",") == Elements{});
  CHECK(elements(",a,, ,\t,b,") == Elements{"a", "b"});
}

TEST_CASE("a comma in a quoted string separates elements") {
  CHECK(elements("a=\"b,c\"") == Elements{"a=\"b", "c\""});
}

}  // namespace
}  // namespace weir::http
