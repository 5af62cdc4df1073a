#include "http/accept.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::http {
namespace {

FieldView accept_field(std::string_view value) {
  return {.id = FieldId::accept, .name = "Accept", .value = value};
}

constexpr std::string_view offered[] = {"text/html; charset=utf-8", "application/json",
                                        "application/problem+json"};
constexpr int html = 0, json = 1, problem = 2, none = -1;

int preferred(const std::vector<FieldView>& fields) {
  const auto found = preferred_type(fields, offered);
  return found ? static_cast<int>(*found) : none;
}

TEST_CASE("Accept selects one of the types, RFC 9110 section 12.5.1") {
  struct Row {
    std::string_view accept;
    int expected;
  };
  const Row rows[] = {
      // A type itself, and ranges; ties go to the first type offered.
      {"text/html", html},
      {"application/json", json},
      {"APPLICATION/Problem+JSON", problem},
      {"application/*", json},
      {"*/*", html},
      {"image/png", none},
      {"text/htm", none},
      {"application/json, text/html", html},
      // Weights.
      {"text/html;q=0.8, application/json", json},
      {"text/html;q=0.8, application/json;q=0.9", json},
      {"text/html; q=0.001 , */* ; Q=0.002", json},
      {"text/html;q=0", none},
      {"text/html;q=0, */*", json},
      {"*/*;q=0", none},
      {"*/*;q=0, application/problem+json;q=0.1", problem},
      {"application/json;q=1.000, text/html;q=1", html},
      // The most specific range counts, wherever it is.
      {"*/*, text/html;q=0.1, application/*;q=0.2", json},
      {"application/problem+json, application/*;q=0.5, */*;q=0.1", problem},
      // Browsers.
      {"text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8", html},
      // Libraries: a type that is named precedes one that a wildcard allows.
      {"application/json, text/plain, */*", json},
      {"*/*, application/*", json},
      // Parameters: charset is ignored, others narrow the range to something that is not offered.
      {"application/json; charset=utf-8", json},
      {"application/json; version=2, text/html;q=0.1", html},
      {"application/json; profile=\"a, b;q=0\", text/html;q=0.1", html},
      {"text/html;q=0.5;level=1", none},
      // Elements that are not valid are ignored.
      {"text/html;q=2, application/json;q=0.1", json},
      {"text/html;q=0.1234, application/json;q=0.1", json},
      {"text/html;q=, application/json;q=0.1", json},
      {"text/html;q=1.5, application/json;q=0.1", json},
      {"text/html;q=x, application/json;q=0.1", json},
      {"text/html;q=0,5", none},
      // Not valid either, but sent by clients of Java.
      {"image/gif, *; q=.2, */*; q=.2", html},
      {"text/html;q=.1, application/json; q=.25", json},
      {"text/html;q=.1234, application/json;q=0.1", json},
      {"*/html, application/json;q=0.1", json},
      {"html, application/json;q=0.1", json},
      {"text/ html, application/json;q=0.1", json},
      {",, ,application/json,", json},
      {"\"", none},
      {"text/html;x=\"\\", none},
      {";;;,/,**", none},
      // An empty field is no preference.
      {"", html},
  };
  for (const Row& row : rows) {
    CAPTURE(row.accept);
    CHECK(preferred({accept_field(row.accept)}) == row.expected);
  }
}

TEST_CASE("several Accept fields are one list, and none accepts everything") {
  CHECK(preferred({}) == html);
  CHECK(preferred({accept_field("text/html;q=0.5"), accept_field("application/json")}) == json);
  CHECK(preferred({{.id = FieldId::accept_language, .name = "Accept-Language", .value = "de"}}) ==
        html);
  CHECK_FALSE(preferred_type({}, {}));
}

TEST_CASE("a media type is a type and a subtype, with or without parameters") {
  for (const std::string_view good :
       {"text/html", "application/problem+json", "a/b;c=d", "text/html; charset=utf-8"}) {
    CAPTURE(good);
    CHECK(is_media_type(good));
  }
  for (const std::string_view bad :
       {"", "/", "text", "text/", "/html", "*/*", "text/*", "text/html;", " text/html",
        "text /html", "text/html\r\nX: y", "a/b/c"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_media_type(bad));
  }
  CHECK(without_parameters("text/html ; charset=utf-8") == "text/html");
}

}  // namespace
}  // namespace weir::http
