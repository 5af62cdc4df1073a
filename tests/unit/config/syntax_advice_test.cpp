#include "config/syntax_advice.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

std::string lone(std::string_view text) {
  const auto found = find_lone_bracket(text);
  if (!found) return "none";
  return std::to_string(found->position.line) + ":" + std::to_string(found->position.column) + " " +
         found->message.substr(0, found->message.find(';'));
}

TEST_CASE("the bracket without its partner is found where it is") {
  CHECK(lone("a: {b: [1, 2]}\nc: []\n") == "none");
  CHECK(lone("a: {b: 1\nc: {d: 2}\n") == "1:4 this { is not closed");
  CHECK(lone("a: [b, {c: 1}\n") == "1:4 this [ is not closed");
  CHECK(lone("a: {b: [1}\n") == "1:8 this [ is not closed");
  CHECK(lone("a: {b: 1}}\n") == "1:10 this } closes nothing");
  CHECK(lone("- {a: 1}\n- [b\n") == "2:3 this [ is not closed");
}

TEST_CASE("brackets in text, quotes and comments are not counted") {
  CHECK(lone("a: text { with [ brackets\n") == "none");
  CHECK(lone("a: \"{\"\nb: '['\n") == "none");
  CHECK(lone("a: \"\\\"{\"\n") == "none");
  CHECK(lone("# {\na: 1 # [\n") == "none");
  CHECK(lone("a: text }\n") == "none");
  CHECK(lone("a: it's {b\n") == "none");
}

std::string colon(std::string_view text, int line) {
  const SyntaxFault fault = explain_colon(text, {line, 1});
  return std::to_string(fault.position.line) + " " + fault.message;
}

TEST_CASE("a colon where none can be is explained by its line, or by the one before") {
  CHECK(colon("a: b: c\n", 1) == "1 a value that holds a colon and a space must be quoted");
  CHECK(colon("policies\n  p: {rate: 10/s}\n", 2) ==
        "1 a colon is missing after the key on this line");
  CHECK(colon("workers = 4\nlisten:\n", 2) == "1 write a colon: KEY: VALUE, not KEY = VALUE");
  CHECK(colon("// text\n\nlisten:\n", 3) == "1 a comment begins with #, not with //");
  CHECK(colon("a:b\nc: d\n", 2) == "1 write a space after the colon: KEY: VALUE");
  CHECK(colon("a: b\n  c: d\n", 2) ==
        "2 keys of one level are indented alike; or quote a value that holds a colon");
}

TEST_CASE("characters that look like those of YAML") {
  const auto found = find_look_alike("a:\n  \xe2\x80\x93 b\n", 2);
  REQUIRE(found);
  CHECK(found->position.line == 2);
  CHECK(found->position.column == 3);
  CHECK(found->message == "the line begins with a long dash; type - instead");
  CHECK(find_look_alike("\xc2\xa0 a: b\n", 1));
  CHECK_FALSE(find_look_alike("a: \xe2\x80\x93\n", 1));
  CHECK_FALSE(find_look_alike("a: b\n", 0));
  CHECK_FALSE(find_look_alike("a: b\n", 7));
}

}  // namespace
}  // namespace weir::config
