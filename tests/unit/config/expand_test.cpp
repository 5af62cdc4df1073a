#include "config/expand.hpp"

#include "catch.hpp"

namespace weir::config {
namespace {

std::optional<std::string> lookup(const std::string& name) {
  if (name == "HOST") return "api.internal";
  if (name == "PORT_1") return "3000";
  if (name == "EMPTY") return "";
  if (name == "TRICKY") return "${HOST}";
  return std::nullopt;
}

TEST_CASE("variables are replaced once, in any position of a value") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"plain $5 and $$", "plain $5 and $$"},
      {"${HOST}", "api.internal"},
      {"http://${HOST}:${PORT_1}/", "http://api.internal:3000/"},
      {"${EMPTY}", ""},
      {"${MISSING:-fallback}", "fallback"},
      {"${MISSING:-}", ""},
      {"${EMPTY:-fallback}", "fallback"},
      {"${HOST:-fallback}", "api.internal"},
      {"${MISSING:-a:-b$c}", "a:-b$c"},
      {"$${HOST}", "${HOST}"},
      {"$$${HOST}", "$${HOST}"},
      {"${TRICKY}", "${HOST}"},
      {"end $", "end $"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const auto value = expand_variables(text, lookup);
    REQUIRE(value.has_value());
    CHECK(*value == expected);
  }
}

TEST_CASE("each reference that cannot be replaced has its own message") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"${MISSING}", "environment variable \"MISSING\" is not set"},
      {"a ${HOST} b ${GONE}", "\"GONE\""},
      {"${HOST", "without its \"}\""},
      {"${}", "malformed"},
      {"${1A}", "malformed"},
      {"${A-b}", "malformed"},
      {"${A:b}", "malformed"},
      {"${A B}", "malformed"},
      {"${A:-${HOST}}", "cannot contain another variable"},
  };
  for (const auto& [text, says] : cases) {
    CAPTURE(text);
    const auto value = expand_variables(text, lookup);
    REQUIRE_FALSE(value.has_value());
    CHECK(value.error().message.find(says) != std::string::npos);
  }
}

TEST_CASE("a text has a variable or only a similar text") {
  for (const char* text : {"${A}", "a${A", "$${A}${B}", "$ ${A:-b}", "${"}) {
    CAPTURE(text);
    CHECK(holds_variable(text));
  }
  for (const char* text : {"", "plain", "$", "$A", "$${A}", "a$${A}$", "$$${A}"}) {
    CAPTURE(text);
    CHECK_FALSE(holds_variable(text));
  }
}

TEST_CASE("without a source of variables every one is missing") {
  CHECK_FALSE(expand_variables("${HOST}", {}).has_value());
  CHECK(*expand_variables("${HOST:-x}", {}) == "x");
}

}  // namespace
}  // namespace weir::config
