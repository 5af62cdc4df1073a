#include "catch.hpp"
#include "config/sections.hpp"
#include "unit/config/loading.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::config {
namespace {

using test::environment;
using test::must_load;
using test::problems_of;

limiter::Policy policy_of(const std::string& policy, const std::string& sections = {}) {
  return must_load(sections + "policies: {p: " + policy +
                   "}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n")
      ->limiter.policies[0];
}

using Bodies = std::vector<limiter::DenialBody>;

TEST_CASE("a denial is a problem document without settings of its own") {
  const limiter::Policy policy = policy_of("{rate: 1/s}");
  CHECK(policy.status == 429);
  CHECK(policy.denial.bodies.empty());
  CHECK(http::lines_of(policy.denial.fields) == "Cache-Control: no-store\r\n");
}

TEST_CASE("a policy sets the body of its denials, its media type and more fields") {
  CHECK(policy_of("{rate: 1/s, body: slow}").denial.bodies ==
        Bodies{{.content_type = "text/plain", .text = "slow"}});
  CHECK(policy_of("{rate: 1/s, body: \"\"}").denial.bodies ==
        Bodies{{.content_type = "text/plain", .text = ""}});
  const auto policy = policy_of(
      R"({rate: 1/s, content_type: application/json, body: '{"slow": true}', headers: {Link: "<https://a.example>; rel=help", access-control-allow-origin: "*"}})");
  CHECK(policy.denial.bodies ==
        Bodies{{.content_type = "application/json", .text = "{\"slow\": true}"}});
  CHECK(http::lines_of(policy.denial.fields) ==
        "Cache-Control: no-store\r\nLink: <https://a.example>; rel=help\r\n"
        "access-control-allow-origin: *\r\n");
  CHECK(policy.visible);
  CHECK(http::lines_of(
            policy_of("{rate: 1/s, headers: {cache-control: \" private \"}}").denial.fields) ==
        "cache-control: private\r\n");
}

TEST_CASE("a body for each media type varies by Accept, and has the problem document beside it") {
  const Bodies both{{.content_type = "text/html", .text = "<p>"},
                    {.content_type = "application/problem+json", .text = std::nullopt}};
  const auto html = policy_of("{rate: 1/s, body: {text/html: <p>}}").denial;
  CHECK(html.bodies == both);
  CHECK(http::lines_of(html.fields) == "Cache-Control: no-store\r\nVary: Accept\r\n");
  const auto ordered =
      policy_of("{rate: 1/s, body: {application/problem+json: default, text/html: <p>}}").denial;
  CHECK(ordered.bodies == Bodies{both[1], both[0]});
  CHECK(policy_of("{rate: 1/s, body: {Application/Problem+JSON: '{}', text/html: <p>}}")
            .denial.bodies[0]
            .text == "{}");
  const auto [vary, expected] = GENERATE(table<std::string, std::string>({
      {"Origin", "vary: Origin, Accept\r\n"},
      {"Origin, ACCEPT", "vary: Origin, ACCEPT\r\n"},
      {"*", "vary: *\r\n"},
  }));
  CHECK(http::lines_of(
            policy_of("{rate: 1/s, body: {text/html: <p>}, headers: {vary: \"" + vary + "\"}}")
                .denial.fields) == "Cache-Control: no-store\r\n" + expected);
  // One body is not negotiated.
  CHECK(http::lines_of(
            policy_of("{rate: 1/s, body: {application/problem+json: default}}").denial.fields) ==
        "Cache-Control: no-store\r\n");
}

TEST_CASE("a body that probably means something else loads with a warning") {
  const auto [body, warning] = GENERATE(table<std::string, std::string>({
      {"default",
       "is sent as the text \"default\"; for the problem document write "
       "{application/problem+json: default}"},
      {"{text/html: default}",
       "is sent as the text \"default\"; for the problem document write "
       "{application/problem+json: default}"},
      {"{application/problem+json: default}", ""},
      {"file:/etc/denied.html",
       "is sent as it is: a body is not read from a file; write the text here"},
      {"{text/html: \"file:denied.html\"}",
       "is sent as it is: a body is not read from a file; write the text here"},
      {"see file:x", ""},
  }));
  CAPTURE(body);
  const auto warnings = test::warnings_of("denied: {body: " + body + "}\n" + test::route_tail);
  if (warning.empty()) {
    CHECK(warnings.empty());
  } else {
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].ends_with(": " + warning));
  }
}

TEST_CASE("an empty map of bodies is the problem document") {
  const auto denial = policy_of("{rate: 1/s, body: {}}", "denied: {body: busy}\n").denial;
  CHECK(denial.bodies ==
        Bodies{{.content_type = "application/problem+json", .text = std::nullopt}});
}

TEST_CASE("the section denied has the defaults of all policies") {
  const std::string defaults = "denied: {status: 503, body: busy, headers: {X-A: 1, X-B: 2}}\n";
  const auto inherits = policy_of("{rate: 1/s}", defaults);
  CHECK(inherits.status == 503);
  CHECK(inherits.denial.bodies == Bodies{{.content_type = "text/plain", .text = "busy"}});
  CHECK(http::lines_of(inherits.denial.fields) ==
        "Cache-Control: no-store\r\nX-A: 1\r\nX-B: 2\r\n");
  const auto replaces = policy_of(
      "{rate: 1/s, status: 429, body: {application/problem+json: default}, headers: {x-b: 3}}",
      defaults);
  CHECK(replaces.status == 429);
  CHECK(replaces.denial.bodies ==
        Bodies{{.content_type = "application/problem+json", .text = std::nullopt}});
  CHECK(http::lines_of(replaces.denial.fields) ==
        "Cache-Control: no-store\r\nX-A: 1\r\nx-b: 3\r\n");
  CHECK(http::lines_of(policy_of("{rate: 1/s, headers: false}", defaults).denial.fields) ==
        http::lines_of(inherits.denial.fields));
}

TEST_CASE("the content of a variable is in no message about a denial") {
  const auto in = environment({{"V", "hidden\nvalue"}, {"T", "hidden"}});
  const std::string problems = problems_of(
      "denied: {headers: {x: ${V}}, content_type: ${T}, body: a}\n" + test::route_tail, in);
  CHECK(problems.find("1:23: denied.headers.x: a header value has no line break") == 0);
  CHECK(problems.find("(here \"${T}\")") != std::string::npos);
  CHECK(problems.find("hidden") == std::string::npos);
}

}  // namespace
}  // namespace weir::config
