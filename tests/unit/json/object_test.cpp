#include "catch.hpp"
#include "json/write.hpp"

namespace weir::json {
namespace {

TEST_CASE("an object has its members in the order of the calls") {
  Object inner;
  CHECK(inner.str() == "{}");
  inner.members("").text("a", "x\"y").members("").number("b", -7);
  CHECK(inner.str() == R"({"a":"x\"y","b":-7})");
  Object outer;
  outer.members(inner.members()).flag("c", true).flag("d", false).json("e", "null");
  CHECK(outer.str() == R"({"a":"x\"y","b":-7,"c":true,"d":false,"e":null})");
}

TEST_CASE("a list has its values in order") {
  CHECK(list_of({}) == "[]");
  CHECK(list_of({"1", "{}"}) == "[1,{}]");
  Object object;
  object.texts("none", {}).texts("two", {"a", "b\n"});
  CHECK(object.str() == R"({"none":[],"two":["a","b\n"]})");
}

}  // namespace
}  // namespace weir::json
