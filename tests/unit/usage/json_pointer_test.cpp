#include "usage/json_pointer.hpp"

#include "catch.hpp"

namespace weir::usage {
namespace {

constexpr std::uint64_t no_index = ReferenceToken::no_index;

TEST_CASE("pointers are divided at slashes, and then decoded") {
  struct Row {
    std::string_view pointer;
    std::vector<ReferenceToken> tokens;
  };
  const Row rows[] = {
      {"/usage/total_tokens", {{"usage"}, {"total_tokens"}}},
      // RFC 6901 section 5
      {"/foo/0", {{"foo"}, {"0", 0}}},
      {"/", {{""}}},
      {"/a~1b", {{"a/b"}}},
      {"/c%d", {{"c%d"}}},
      {"/i\\j", {{"i\\j"}}},
      {"/k\"l", {{"k\"l"}}},
      {"/ ", {{" "}}},
      {"/m~0n", {{"m~n"}}},
      // ~01 is ~1 and not a slash (section 4)
      {"/~01", {{"~1"}}},
      {"/~10", {{"/0"}}},
      {"//", {{""}, {""}}},
      {"/a//b/", {{"a"}, {""}, {"b"}, {""}}},
      // indexes have no sign and no leading zero
      {"/10", {{"10", 10}}},
      {"/01", {{"01", no_index}}},
      {"/00", {{"00", no_index}}},
      {"/-", {{"-", no_index}}},
      {"/-1", {{"-1", no_index}}},
      {"/+1", {{"+1", no_index}}},
      {"/1e0", {{"1e0", no_index}}},
      {"/99999999999999999999", {{"99999999999999999999", no_index}}},
  };
  for (const Row& row : rows) {
    INFO(row.pointer);
    const auto pointer = JsonPointer::parse(row.pointer);
    REQUIRE(pointer.has_value());
    CHECK(pointer->text() == row.pointer);
    REQUIRE(pointer->depth() == row.tokens.size());
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
      CHECK((*pointer)[i] == row.tokens[i]);
  }
}

TEST_CASE("a pointer that is not valid has a message for the configuration") {
  const auto problem = [](std::string_view text) {
    return JsonPointer::parse(text).error().message;
  };
  const std::string slash = "a JSON pointer begins with a slash, such as /usage/total_tokens";
  const std::string tilde =
      "in a JSON pointer ~ must be followed by 0 or 1: ~0 is a tilde, ~1 a slash";
  for (const char* text : {"", "usage", "usage/total", "#/usage", "$.usage", " /usage"}) {
    INFO(text);
    CHECK(problem(text) == slash);
  }
  for (const char* text : {"/a~", "/~", "/~2", "/a~b/c", "/a/~~0", "/~/0"}) {
    INFO(text);
    CHECK(problem(text) == tilde);
  }
  CHECK(problem("/" + std::string(JsonPointer::longest, 'a')) ==
        "a JSON pointer has at most 256 bytes");
  CHECK(JsonPointer::parse("/" + std::string(JsonPointer::longest - 1, 'a')).has_value());
  std::string deep;
  for (std::size_t i = 0; i < JsonPointer::deepest; ++i)
    deep += "/a";
  CHECK(JsonPointer::parse(deep).has_value());
  CHECK(problem(deep + "/a") == "a JSON pointer has at most 16 parts");
}

}  // namespace
}  // namespace weir::usage
