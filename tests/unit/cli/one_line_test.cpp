#include <sstream>

#include "catch.hpp"
#include "cli/commands.hpp"

using weir::cli::read_one_line;

TEST_CASE("The input has one line") {
  for (const char* const text : {"abc", "abc\n"}) {
    std::istringstream input(text);
    CHECK(read_one_line(input, false).value() == "abc");
  }
  for (const auto& [text, problem] : {std::pair{"", "no line"},
                                      {"\n", "empty one"},
                                      {"\nabc\n", "empty one"},
                                      {"abc\ndef\n", "more than one line"},
                                      {"abc\n\n", "more than one line"}}) {
    std::istringstream input(text);
    const auto refused = read_one_line(input, false);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find(problem) != std::string::npos);
    CHECK(refused.error().message.find("abc") == std::string::npos);
  }
  std::istringstream terminal("abc\n...");
  CHECK(read_one_line(terminal, true).value() == "abc");
}
