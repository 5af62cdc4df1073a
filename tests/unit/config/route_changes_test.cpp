#include "catch.hpp"
#include "config/sections.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using test::environment;
using test::must_load;
using test::problems_of;
using test::warnings_of;

const std::string head =
    "upstreams: {u: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
    "routes:\n"
    "  - upstream: u\n"
    "    match: {path: \"/api/{id}/**\"}\n"
    "    ";

options::Route route_of(const std::string& keys) {
  return must_load(head + keys + "\n")->proxy.routes[0];
}

TEST_CASE("a route without changes has none") {
  const options::Route route = route_of("name: r");
  CHECK(route.request_edits.is_empty());
  CHECK(route.response_edits.is_empty());
  CHECK(route.rewrite.is_empty());
}

TEST_CASE("a route changes fields of requests and responses") {
  const options::Route route = route_of(
      "request_headers: {set: {Host: a.example:81, X-A: 1}, add: {x-b: two}, remove: [x-c]}\n"
      "    response_headers: {add: {Set-Cookie: a=b}, remove: [RateLimit-Limit, server]}");
  CHECK(route.request_edits ==
        http::FieldEdits({{"Host", "a.example:81"}, {"X-A", "1"}}, {{"x-b", "two"}}, {"x-c"}));
  CHECK(route.response_edits ==
        http::FieldEdits({}, {{"Set-Cookie", "a=b"}}, {"RateLimit-Limit", "server"}));
}

TEST_CASE("a route changes the path") {
  CHECK(route_of("strip_prefix: /api").rewrite.strips());
  CHECK(route_of("strip_prefix: /api").rewrite.text() == "/api");
  CHECK(route_of("path: /v2/{id}/**").rewrite.text() == "/v2/{id}/**");
  std::string out;
  route_of("path: /v2/{id}/**").rewrite.append_target(out, "/api/7/x", "/api/7/x?q");
  CHECK(out == "/v2/7/x?q");
}

TEST_CASE("a constant value with a variable of another program is sent as it is, with a warning") {
  const auto [value, variable] = GENERATE(table<std::string, std::string>({
      {"https://$host/", "$host"},
      {"/users/{id}/x", "{id}"},
      {"a$", ""},
      {"$$", ""},
      {"{ }", ""},
      {"{\\\"group\\\": 1}", ""},
      {"5 $ {", ""},
  }));
  CAPTURE(value);
  const auto warnings = warnings_of(head + "response_headers: {set: {x-a: \"" + value + "\"}}\n");
  if (variable.empty()) {
    CHECK(warnings.empty());
  } else {
    CHECK(warnings ==
          std::vector<std::string>{
              "5:35: routes[0].response_headers.set.x-a: is sent as it is, with \"" + variable +
              "\": values are constant; write the value, or ${NAME} for a variable of the "
              "environment"});
  }
}

TEST_CASE("a variable of the environment is replaced, and is named if its value is bad") {
  auto in = environment();
  in.variable = [](const std::string&) { return "a\r\nx: $b"; };
  const std::string text = head + "response_headers: {set: {x-a: \"${VALUE}\"}}\n";
  CHECK(problems_of(text, in) ==
        "5:35: routes[0].response_headers.set.x-a: a header value has no line break and no control "
        "character; remove them from the value of \"${VALUE}\"\n");
  in.variable = [](const std::string&) { return "$b {c}"; };
  CHECK(must_load(text, in)->presentation.warnings.empty());
}

TEST_CASE("a fixed answer has fields, and a redirect needs a location") {
  const auto respond = [](const std::string& keys) {
    return "routes: [{respond: {" + keys + "}}]\n";
  };
  CHECK(must_load(respond("status: 301, headers: {Location: /a, x: 1}"))
            ->proxy.routes[0]
            .respond.fields == http::FieldSection{{"Location", "/a"}, {"x", "1"}});
  CHECK(warnings_of(respond("status: 301, headers: {location: /a}")).empty());
  CHECK(warnings_of(respond("status: 304")).empty());
  CHECK(warnings_of(respond("status: 308")) ==
        std::vector<std::string>{"1:20: routes[0].respond: the redirect leads nowhere; write "
                                 "headers: {location: URL}"});
}

TEST_CASE("the content of a variable is in no message about the changes of a route") {
  const auto in = environment({{"V", "/hidden/{x}"}, {"N", "hidden\nvalue"}});
  const std::string problems = problems_of(
      head + "path: ${V}\n    request_headers: {set: {x: ${N}, host: ${N}}, remove: [${N}]}\n", in);
  CHECK(problems.find("(here \"${V}\")") != std::string::npos);
  CHECK(problems.find("hidden") == std::string::npos);
}

}  // namespace
}  // namespace weir::config
