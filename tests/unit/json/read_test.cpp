#include "json/read.hpp"

#include <string>

#include "catch.hpp"

namespace weir::json {
namespace {

Result<Value, ReadError> read_json_text(std::string_view text) {
  return read(text, {.depth = 4, .values = 10});
}

ReadError error_of(std::string_view text) {
  INFO(text);
  const auto json = read_json_text(text);
  REQUIRE(json.has_error());
  return json.error();
}

TEST_CASE("JSON is read into a tree") {
  const auto json = read_json_text(R"( {"b": [1, "x", null], "a": {"é": true}, "c": "\u00e9\n"} )");
  REQUIRE(json.has_value());
  REQUIRE(json->kind == Kind::object);
  const Value* const list = json->find("b");
  REQUIRE(list != nullptr);
  REQUIRE(list->kind == Kind::list);
  REQUIRE(list->members.size() == 3);
  CHECK(list->members[0].value.kind == Kind::number);
  CHECK(list->members[0].value.text == "1");
  CHECK(list->members[1].value.text == "x");
  CHECK(list->members[2].value.kind == Kind::null);
  const Value* const object = json->find("a");
  REQUIRE(object != nullptr);
  REQUIRE(object->find("é") != nullptr);
  CHECK(object->find("é")->kind == Kind::boolean);
  CHECK(object->find("é")->text == "true");
  CHECK(json->find("c")->text == "é\n");
  CHECK(json->find("d") == nullptr);
  CHECK(list->find("") == nullptr);
  CHECK(json->members[0].name == "a");
}

TEST_CASE("numbers of JSON keep their digits") {
  for (const char* const text : {"0", "-1", "18446744073709551615", "18446744073709551616",
                                 "123456789012345678901234567890", "1.50", "-2.5E-3"}) {
    INFO(text);
    const auto json = read_json_text(text);
    REQUIRE(json.has_value());
    CHECK(json->kind == Kind::number);
    CHECK(json->text == text);
  }
}

TEST_CASE("text that is not JSON is rejected") {
  for (const char* const text : {
           "",         " ",           "{",
           "}",        "{}{}",        "{} x",
           "{\"a\"}",  "{\"a\":}",    "{a:1}",
           "{'a':1}",  "[1,]",        "{\"a\":1,}",
           "nul",      "NaN",         "Infinity",
           "1e999",    "-1e999",      "01",
           "+1",       ".5",          "1.",
           "0x1",      "\"\\ud800\"", "\"\\x\"",
           "\"a\nb\"", "\"\xff\"",    "\"\xc0\xaf\"",
           "// c\n1",  "/**/1",
       })
    CHECK(error_of(text) == ReadError::syntax);
  CHECK(error_of("\xef\xbb\xbf{}") == ReadError::syntax);  // a byte order mark
}

TEST_CASE("a NUL byte does not end JSON") {
  CHECK(error_of(std::string_view{"{}\0", 3}) == ReadError::syntax);
  CHECK(error_of(std::string_view{"{}\0{\"admin\":true}", 17}) == ReadError::syntax);
  CHECK(error_of(std::string_view{"\0{}", 3}) == ReadError::syntax);
}

TEST_CASE("a member name that appears twice is rejected at any depth") {
  for (const char* const text : {
           R"({"a":1,"a":1})",
           R"({"a":1,"b":2,"a":3})",
           R"({"a":1,"\u0061":2})",
           R"([{"a":1,"a":2}])",
           R"({"x":{"y":{"a":1,"a":2}}})",
           R"({"":1,"":2})",
       })
    CHECK(error_of(text) == ReadError::duplicate_member);
  CHECK(read_json_text(R"({"a":{"a":{"a":1}},"b":{"a":1}})").has_value());
  CHECK(read_json_text(R"({"a":1,"A":2})").has_value());
}

TEST_CASE("the depth of JSON is limited") {
  CHECK(read_json_text("[[[[]]]]").has_value());
  CHECK(error_of("[[[[[]]]]]") == ReadError::too_deep);
  CHECK(read_json_text(R"({"a":{"a":{"a":{}}}})").has_value());
  CHECK(error_of(R"({"a":{"a":[{"a":{}}]}})") == ReadError::too_deep);
  CHECK(error_of(std::string(100'000, '[')) == ReadError::too_deep);
  CHECK(read_json_text("[[],[],[[[]]],[]]").has_value());
}

TEST_CASE("the number of values of JSON is limited") {
  CHECK(read_json_text("[1,2,3,4,5,6,7,8,9]").has_value());
  CHECK(error_of("[1,2,3,4,5,6,7,8,9,10]") == ReadError::too_many_values);
  CHECK(error_of("[[],[],[],[],[],[],[],[],[],[]]") == ReadError::too_many_values);
}

}  // namespace
}  // namespace weir::json
