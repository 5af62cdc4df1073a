#include "config/route_changes.hpp"

#include "catch.hpp"
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

proxy::Route route_of(const std::string& keys) {
  return must_load(head + keys + "\n")->routes[0];
}

TEST_CASE("a route without changes has none") {
  const proxy::Route route = route_of("name: r");
  CHECK(route.request_edits.is_empty());
  CHECK(route.response_edits.is_empty());
  CHECK(route.rewrite.is_empty());
}

TEST_CASE("a route changes fields of requests and responses") {
  const proxy::Route route = route_of(
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
      {"/new/$1", "$1"},
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
  CHECK(must_load(text, in)->warnings.empty());
}

TEST_CASE("a fixed answer has fields, and a redirect needs a location") {
  const auto respond = [](const std::string& keys) {
    return "routes: [{respond: {" + keys + "}}]\n";
  };
  CHECK(
      must_load(respond("status: 301, headers: {Location: /a, x: 1}"))->routes[0].respond.fields ==
      "Location: /a\r\nx: 1\r\n");
  CHECK(warnings_of(respond("status: 301, headers: {location: /a}")).empty());
  CHECK(warnings_of(respond("status: 304")).empty());
  CHECK(warnings_of(respond("status: 308")) ==
        std::vector<std::string>{"1:20: routes[0].respond: the redirect leads nowhere; write "
                                 "headers: {location: URL}"});
  CHECK(
      problems_of(respond("headers: {content-length: 1}")).find("Weir writes this field itself") !=
      std::string::npos);
  CHECK(problems_of(respond("headers: {content-type: a/b}"))
            .find("write content_type beside headers instead") != std::string::npos);
}

const std::string framing =
    "Weir writes this field itself, because it belongs to one connection or frames the body; "
    "remove "
    "it\n";

TEST_CASE("mistakes in the changes of a route are reported with their place and their fix") {
  const auto [keys, message] = GENERATE(table<std::string, std::string>({
      {"request_headers: {set: {Connection: close}}",
       "5:41: routes[0].request_headers.set.Connection: " + framing},
      {"request_headers: {add: {content-length: 1}}",
       "5:45: routes[0].request_headers.add.content-length: " + framing},
      {"request_headers: {remove: [Transfer-Encoding]}",
       "5:32: routes[0].request_headers.remove[0]: " + framing},
      {"request_headers: {set: {X-Forwarded-For: a}}",
       "5:46: routes[0].request_headers.set.X-Forwarded-For: Weir writes this field itself; remove "
       "it\n"},
      {"request_headers: {remove: [via]}",
       "5:32: routes[0].request_headers.remove[0]: Weir writes this field itself; remove it\n"},
      {"request_headers: {remove: [host]}",
       "5:32: routes[0].request_headers.remove[0]: a request needs a Host; write another one under "
       "set\n"},
      {"request_headers: {add: {host: a}}",
       "5:35: routes[0].request_headers.add.host: a request has one Host; write it under set\n"},
      {"request_headers: {set: {host: \"a b\"}}",
       "5:35: routes[0].request_headers.set.host: expected a host, such as api.example.com or "
       "api.example.com:8080 (here \"a b\")\n"},
      {"request_headers: {set: {x: \"a\\nb\"}}",
       "5:32: routes[0].request_headers.set.x: a header value has no line break and no control "
       "character; remove them\n"},
      {"request_headers: {set: {x: \"\"}}",
       "5:32: routes[0].request_headers.set.x: the value is empty; write one, or remove the "
       "field\n"},
      {"request_headers: {remove: [x-internal-*]}",
       "5:32: routes[0].request_headers.remove[0]: a name has no star; list each field (here "
       "\"x-internal-*\")\n"},
      {"request_headers: {remove: [\"a b\"]}",
       "5:32: routes[0].request_headers.remove[0]: expected the name of a header field (here \"a "
       "b\")\n"},
      {"request_headers: {set: {x: 1}, add: {X: 2}}",
       "5:45: routes[0].request_headers.add.X: the field is also under set; keep one\n"},
      {"request_headers: {set: {x: 1}, remove: [X]}",
       "5:45: routes[0].request_headers.remove[0]: the field is also under set, which replaces it; "
       "keep one of them\n"},
      {"request_headers: {add: {x: 1}, remove: [x]}",
       "5:45: routes[0].request_headers.remove[0]: the field is also under add; to replace it, "
       "write it under set only\n"},
      {"request_headers: {}",
       "5:22: routes[0].request_headers: is empty; write set, add or remove, or remove the key\n"},
      {"response_headers: {set: {ratelimit: a}}",
       "5:41: routes[0].response_headers.set.ratelimit: Weir computes this field; remove it, or "
       "choose which ones clients receive with the section response_headers\n"},
      {"response_headers: {remove: [date]}",
       "5:33: routes[0].response_headers.remove[0]: Weir writes this field itself; remove it\n"},
      {"response_headers: {add: {upgrade: a}}",
       "5:39: routes[0].response_headers.add.upgrade: " + framing},
      {"strip_prefix: /v1",
       "5:19: routes[0].strip_prefix: the path of match does not begin with it; write match: "
       "{path: /v1/**} (here \"/v1\")\n"},
      {"strip_prefix: api",
       "5:19: routes[0].strip_prefix: must start with \"/\", such as /v2 (here \"api\")\n"},
      {"path: /v2/{user}",
       "5:11: routes[0].path: the path of match has no {user}; use one of its named segments: {id} "
       "(here "
       "\"/v2/{user}\")\n"},
      {"path: /v2/**\n    strip_prefix: /api",
       "6:19: routes[0].strip_prefix: strip_prefix and path are both written; keep one\n"},
  }));
  CAPTURE(keys);
  CHECK(problems_of(head + keys + "\n") == message);
}

TEST_CASE("changes that need an upstream or a pattern are reported without one") {
  const auto problems = [](const std::string& route) {
    return problems_of("upstreams: {u: {servers: [{url: \"http://127.0.0.1:1\"}]}}\nroutes: [{" +
                       route + "}]\n");
  };
  CHECK(problems("respond: {}, request_headers: {set: {x: 1}}") ==
        "2:41: routes[0].request_headers: request_headers has no effect on a route that forwards "
        "nothing; remove it\n");
  CHECK(
      problems("decide: true, match: {path: /a}, strip_prefix: /a") ==
      "2:58: routes[0].strip_prefix: strip_prefix has no effect on a route that forwards nothing; "
      "remove it\n");
  CHECK(problems("upstream: u, strip_prefix: /a") ==
        "2:38: routes[0].strip_prefix: needs a path in match, such as match: {path: /api/**}\n");
  CHECK(
      problems("upstream: u, path: /login") ==
      "2:30: routes[0].path: needs a path in match, because beside match it replaces the path for "
      "the upstream; conditions of a route are keys of match, such as match: {path: /v1/**, "
      "methods: [GET]}\n");
  // One mistake, one message.
  CHECK(problems("upstream: u, match: {path: a}, strip_prefix: /a") ==
        "2:38: routes[0].match.path: path \"a\": must start with \"/\"; did you mean \"/a\"?\n");
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
