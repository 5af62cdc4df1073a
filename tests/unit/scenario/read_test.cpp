// Scenarios as YAML: their values, and every problem with its position and a hint.
#include "scenario/read.hpp"

#include "unit/scenario/scenarios.hpp"

namespace weir::scenario::test {
namespace {

using namespace std::chrono_literals;

constexpr auto one_policy = R"(
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
jwt_providers: {idp: {algorithms: [RS256], jwks: {url: "https://issuer.example/jwks"}}}
plans: {gold: {per_client: {rate: 9/1s}}}
plan_from: [{header: x-plan}]
policies: {per_client: {algorithm: gcra, rate: 5/1s}}
routes: [{name: all, upstream: api, limits: [{policy: per_client}]}]
)";

const std::string head = "config: weir.yaml\nsteps:\n";

}  // namespace

TEST_CASE("A scenario has the values that are written, and the defaults of the others") {
  const Directory directory(one_policy);
  const auto scenario = directory.read(R"(
config: weir.yaml
start: 2026-03-29T00:59:50Z
steps:
  - request: {url: "http://a.test/"}
  - name: slow
    at: 1m
    repeat: 3
    every: 10ms
    request:
      method: PUT
      url: "http://a.test/x?y"
      headers: {x-a: b, x-c: [d, e]}
      peer: "2001:db8::1"
      body: {n: 5, text: "5", list: [true, ~, 1.5, no]}
      claims: {idp: {sub: alice}}
      leaves_after: 3s
    response: {status: 201, headers: {x-r: s}, json: {usage: 7}, after: 2s}
    expect:
      status: 429
      decision: none
      policy: none
      route: all
      plan: gold
      upstream: api
      retry_after: none
      delay: 1s
      remaining: {per_client: 1}
      charged: {per_client: 2}
      headers: {retry-after: "1", x-none: ~}
      body: text
      statuses: {200: 2, 429: 1}
  - request: {url: "http://a.test/", body: text}
    response: {events: [{a: 1}, "[DONE]"], until: 70s}
    expect: {remaining: 4, retry_after: 59}
)");
  REQUIRE(scenario.has_value());
  CHECK(scenario->start == instant_from_us(1'774'745'990'000'000));
  REQUIRE(scenario->steps.size() == 3);
  const Step& first = scenario->steps[0];
  CHECK((first.number == 1 && first.line == 5 && first.at == 0s && first.repeat == 1));
  CHECK(first.request.method.empty());
  CHECK(first.request.peer.to_string() == "127.0.0.1");
  CHECK_FALSE(first.request.body);
  CHECK_FALSE(first.response.is_written);
  CHECK(first.response.status == 200);
  CHECK_FALSE(first.expect.status);

  const Step& second = scenario->steps[1];
  CHECK((second.name == "slow" && second.at == 1min && second.repeat == 3));
  CHECK(second.every == 10ms);
  CHECK(second.request.fields == Fields{{"x-a", "b"}, {"x-c", "d"}, {"x-c", "e"}});
  CHECK(second.request.body == R"({"n":5,"text":"5","list":[true,null,1.5,"no"]})");
  CHECK(second.request.is_json);
  REQUIRE(second.request.claims.size() == 1);
  CHECK(second.request.claims[0].json == R"({"sub":"alice"})");
  CHECK(second.request.leaves_after == 3s);
  CHECK((second.response.is_written && second.response.status == 201));
  CHECK(second.response.body == R"({"usage":7})");
  CHECK(second.response.content_type == "application/json");
  CHECK(second.response.after == 2s);
  const Expectation& expect = second.expect;
  CHECK((expect.status == 429 && expect.decision == "" && expect.policy == ""));
  CHECK((expect.route == "all" && expect.plan == "gold" && expect.upstream == "api"));
  REQUIRE(expect.retry_after);
  CHECK_FALSE(*expect.retry_after);
  CHECK(expect.delay == 1s);
  CHECK(expect.remaining == Counts{{"per_client", 1}});
  CHECK(expect.charged == Counts{{"per_client", 2}});
  REQUIRE(expect.fields.size() == 2);
  CHECK(expect.fields[0].second == "1");
  CHECK_FALSE(expect.fields[1].second);
  CHECK(expect.body == "text");
  CHECK(expect.statuses == std::vector<std::pair<int, std::int64_t>>{{200, 2}, {429, 1}});

  const Step& third = scenario->steps[2];
  CHECK(third.at == 1min);  // that of the step before
  CHECK((third.request.body == "text" && !third.request.is_json));
  CHECK(third.response.body == "data: {\"a\":1}\n\ndata: [DONE]\n\n");
  CHECK(third.response.until == 70s);
  CHECK(third.expect.remaining == Counts{{"", 4}});
  CHECK(third.expect.retry_after == std::optional<std::int64_t>(59));
}

TEST_CASE("Every problem of a scenario has its position, its key and what to write") {
  struct Row {
    std::string yaml;
    std::string_view problem;  ///< the only one
  };
  const std::string url = "request: {url: \"http://a/\"}";
  const Row rows[] = {
      {"", "limits.yaml:the file is empty"},
      {"steps: [{" + url + "}]", R"(1:1: the key "config" is missing; write config: weir.yaml)"},
      {"config: weir.yaml",
       R"(1:1: the key "steps" is missing; write steps: [{request: {url: "http://api.example.com/"}, expect: {status: 200}}])"},
      {"config: none.yaml\nsteps: [{" + url + "}]",
       "1:9: config: cannot read the file: No such file"},
      {"config: weir.yaml\nstart: today\nsteps: [{" + url + "}]",
       R"(2:8: start: expected a date and a time, such as 2026-01-01T00:00:00Z (here "today"))"},
      {"config: weir.yaml\nlisten: x\nsteps: [{" + url + "}]",
       R"(2:1: listen: unknown key "listen"; known here: variables, config, start, steps)"},
      {head + "- {}", R"(3:3: steps[0]: the key "request" is missing; write request: {url: )"},
      {head + "- {requst: {url: \"http://a/\"}, " + url + "}",
       R"(steps[0].requst: unknown key "requst"; did you mean "request"?)"},
      {head + "- {times: 3, " + url + "}", R"(unknown key "times"; did you mean "repeat"?)"},
      {head + "- {at: 3, " + url + "}", R"(steps[0].at: )"},
      {head + "- {repeat: 1000000, every: 3650d, " + url + "}",
       R"(steps[0].every: the last request would be later than 3660d; lower "every" or "repeat")"},
      {head + "- {every: 1s, " + url + "}",
       R"(steps[0].every: there is only one request; add "repeat", or remove "every")"},
      {head + "- {at: 10s, " + url + ", response: {until: 9s}}",
       "steps[0].response.until: the response would be complete before its request at 10s"},
      {head + "- {at: 10s, " + url + ", response: {until: 9}}",
       R"(steps[0].response.until: a duration needs a unit)"},
      {"config: weir.yaml\nstart: 9999-12-31T23:59:59-01:00\nsteps: [{" + url + "}]",
       "2:8: start: expected a time from 1970-01-01T00:00:00Z until 2095-01-01T00:00:00Z"},
      {"config: weir.yaml\nstart: 1969-12-31T23:59:59Z\nsteps: [{" + url + "}]",
       "2:8: start: expected a time from 1970-01-01T00:00:00Z"},
      {"variables: {A: b}\n" + head + "- {" + url + "}",
       "1:16: variables.A: the configuration does not have ${A}; correct the name"},
      {head + "- {at: 99999999999999999999d, " + url + "}",
       R"(steps[0].at: too large (here "99999999999999999999d"))"
       "\n"},
      {head + "- {repeat: 0, " + url + "}", "expected a whole number from 1 to 1000000"},
      {head + "- {request: {}}", R"(steps[0].request: the key "url" is missing; write url: )"},
      {head + "- {request: {url: a/b}}",
       "steps[0].request.url: expected http://HOST/PATH or https://HOST/PATH"},
      {head + "- {request: {url: \"http://a/\", method: \"G T\"}}",
       "expected a method, such as GET"},
      {head + "- {request: {url: \"http://a/\", peer: a}}",
       R"(expected an IP address, such as 192.0.2.7 (here "a"))"},
      {head + "- {request: {url: \"http://a/\", headers: {\"x a\": b}}}",
       "expected a field name, such as x-api-key"},
      {head + "- {request: {url: \"http://a/\", claims: {idq: {sub: a}}}}",
       R"(no JWT provider is called "idq"; did you mean "idp"?)"},
      {head + "- {" + url + ", response: {json: {}, body: x}}",
       R"(steps[0].response.json: there is "body" already; keep one of them)"},
      {head + "- {" + url + ", response: {failure: crash}}",
       "expected unreachable, timeout or broken"},
      {head + "- {" + url + ", expect: {grpc_status: 0}}",
       R"(steps[0].expect.grpc_status: the request is not a gRPC call; add "content-type: application/grpc")"},
      {head + "- {request: {url: \"http://a/\", headers: {content-type: application/grpc}}, "
              "response: {grpc_status: 17}}",
       "steps[0].response.grpc_status: expected a whole number from 0 to 16"},
      {head + "- {request: {url: \"http://a/\", headers: {content-type: application/grpc}}, "
              "response: {grpc_status: 1, failure: timeout}}",
       R"(steps[0].response.failure: there is "grpc_status" already; keep one of them)"},
      {head + "- {" + url + ", response: {usage: 5}}",
       R"(unknown key "usage"; write json: {usage: {...}}, as the upstream states it)"},
      {head + "- {" + url + ", expect: {policy: per_clint}}",
       R"(no policy is called "per_clint"; did you mean "per_client"?)"},
      {head + "- {" + url + ", expect: {charged: {other: 1}}}", R"(no policy is called "other")"},
      {head + "- {" + url + ", expect: {route: al}}", R"(no route is called "al")"},
      {head + "- {" + url + ", expect: {plan: golt}}", R"(did you mean "gold"?)"},
      {head + "- {" + url + ", expect: {retry_after: soon}}",
       "expected seconds as Retry-After has them, such as 59, or none"},
      {head + "- {" + url + ", expect: {statuses: {ok: 1}}}",
       "expected a status from 200 to 599 as the key"},
      {head + "- {" + url + ", expect: {allowed: true}}",
       R"(unknown key "allowed"; write decision: allowed, or decision: denied)"},
      {head + "- {override: {identity: client, key: 192.0.2.1, unlimited: true}, " + url + "}",
       "a step with override has no request"},
      {head + "- {override: {identity: x, key: a, unlimited: true}}", "steps[0].override: "},
      {head + "- {" + url + "}",
       "limits.yaml:3:1: steps: no step expects anything, so nothing is checked; add to a step, "
       "such "
       "as expect: {status: 200}"},
      {head + "- {" + url + ", expect: {}}", "steps: no step expects anything"},
      {head + "- {override: {identity: client, key: 192.0.2.1, unlimited: true}}",
       "steps: no step expects anything"},
  };
  const Directory directory(one_policy);
  for (const auto& [yaml, problem] : rows) {
    CAPTURE(yaml, problem);
    const std::string problems = directory.problems_of(yaml);
    CHECK(std::ranges::count(problems, '\n') == 1);
    CHECK_THAT(problems, Catch::Contains(std::string(problem)));
  }
}

TEST_CASE("The problems of the configuration are reported beside those of the scenario") {
  const Directory directory("policies: {p: {algorithm: gcra}}\nroutes: [{respond: {}}]\n");
  const std::string problems =
      directory.problems_of(head + "- {request: {url: x}, expect: {policy: p}}");
  CHECK_THAT(problems, Catch::Contains("limits.yaml:3:19: steps[0].request.url: expected"));
  CHECK_THAT(problems, Catch::Contains("weir.yaml:1:"));
}

TEST_CASE("The value of a variable is not part of a problem") {
  const Directory directory(one_policy);
  ::setenv("SCENARIO_SECRET", "secret-value", 1);
  for (const std::string key : {"policy", "route", "upstream", "plan"}) {
    const std::string problems = directory.problems_of(
        head + "- {request: {url: \"http://a/\"}, expect: {" + key + ": \"${SCENARIO_SECRET}\"}}");
    CHECK_THAT(problems, Catch::Contains("steps[0].expect." + key + ": no " + key + " is called"));
    CHECK_THAT(problems, Catch::Contains("${SCENARIO_SECRET}"));
    CHECK_THAT(problems, !Catch::Contains("secret-value"));
  }
  ::unsetenv("SCENARIO_SECRET");
}

TEST_CASE("The variables of a scenario are those of its configuration") {
  const Directory directory(
      "policies: {p: {algorithm: gcra, rate: \"${SCENARIO_RATE}\"}}\n"
      "routes: [{respond: {}, limits: [{policy: p}]}]\n");
  CHECK_THAT(directory.problems_of(head + "- {request: {url: \"http://a/\"}}"),
             Catch::Contains("SCENARIO_RATE"));
  const auto scenario = directory.read("variables: {SCENARIO_RATE: 7/1s}\n" + head +
                                       "- {request: {url: \"http://a/\"}, expect: {status: 200}}");
  REQUIRE(scenario.has_value());
  CHECK(scenario->config->limiter.policies[0].numbers.capacity == 7);
}

}  // namespace weir::scenario::test
