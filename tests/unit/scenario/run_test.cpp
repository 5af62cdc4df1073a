// Scenarios on their virtual clock: every algorithm, requests in progress, costs of responses,
// tokens, plans, overrides.
#include "scenario/run.hpp"

#include "unit/scenario/scenarios.hpp"

namespace weir::scenario::test {
namespace {

constexpr auto limited = R"(
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
client_address: {trusted_proxies: [10.0.0.0/8]}
address_lists: {office: [192.0.2.0/24]}
jwt_providers:
  idp:
    algorithms: [RS256]
    jwks: {url: "https://issuer.example/jwks"}
    issuer: https://issuer.example
    audience: [api, other]
    type: at+jwt
  session: {cookie: sid, algorithms: [HS256], secret: 0123456789abcdef0123456789abcdef}
  link: {query: token, algorithms: [ES256], jwks: {url: "https://issuer.example/jwks"}, require_exp: true}
identities:
  key: {header: x-key}
  user: {jwt: {provider: idp, claim: sub}}
  member: {jwt: {provider: session, claim: user.id}}
  guest: {jwt: {provider: link, claim: sub}}
plans: {free: {}, gold: {per_user: {rate: 2/1m}}, internal: {per_user: unlimited}}
plan_from: [{jwt: {provider: idp, claim: plan}}]
default_plan: free
policies:
  fixed: {algorithm: fixed_window, rate: 2/10s}
  clock: {algorithm: fixed_window, rate: 2/1d, anchor: clock}
  attributed: {algorithm: attributed_window, rate: 2/10s, attributes: [method]}
  sliding: {algorithm: sliding_window, rate: 2/10s}
  log: {algorithm: sliding_log, rate: 2/10s}
  bucket: {algorithm: token_bucket, rate: 2/10s}
  gcra: {algorithm: gcra, rate: 2/10s}
  leaky: {algorithm: leaky_bucket, rate: 2/10s, queue: 1}
  slots: {algorithm: concurrency, limit: 1, queue: 1, max_wait: 5s}
  rejected: {algorithm: sliding_log, rate: 1/10s, count_rejected: true}
  logins: {algorithm: sliding_log, rate: 2/1m}
  calls: {algorithm: sliding_log, rate: 2/1m}
  tokens: {algorithm: token_bucket, rate: 100/1h}
  per_user: {algorithm: gcra, rate: 1/1m}
  trial: {algorithm: gcra, rate: 1/1m, mode: shadow}
routes:
  - {match: {path: /fixed}, respond: {status: 200}, limits: [{policy: fixed}]}
  - {match: {path: /clock}, respond: {status: 200}, limits: [{policy: clock}]}
  - {match: {path: /attributed}, respond: {status: 200}, limits: [{policy: attributed}]}
  - {match: {path: /sliding}, respond: {status: 200}, limits: [{policy: sliding}]}
  - {match: {path: /log}, respond: {status: 200}, limits: [{policy: log}]}
  - {match: {path: /bucket}, respond: {status: 200}, limits: [{policy: bucket}]}
  - {match: {path: /gcra}, respond: {status: 200}, limits: [{policy: gcra}]}
  - {match: {path: /leaky}, upstream: api, limits: [{policy: leaky}]}
  - {match: {path: /slots}, upstream: api, limits: [{policy: slots}]}
  - {match: {path: /rejected}, respond: {status: 200}, limits: [{policy: rejected}]}
  - {match: {path: /login}, upstream: api, limits: [{policy: logins, charge: {status: [401]}}]}
  - {match: {path: /auth.Sessions/Create}, upstream: api, limits: [{policy: calls, charge: {grpc_status: [7, 16]}}]}
  - {match: {path: /auth.Sessions/Closed}, respond: {status: 503}, limits: [{policy: calls, charge: {grpc_status: [14]}}]}
  - match: {path: /chat}
    upstream: api
    limits:
      - policy: tokens
        key: key
        otherwise: client
        reserve: {json: /max_tokens, default: 10}
        cost_from: [{header: x-usage}, {json: /usage/total}]
  - {match: {path: /user}, upstream: api, limits: [{policy: per_user, key: user, required: true}]}
  - {match: {path: /member}, upstream: api, limits: [{policy: gcra, key: member, required: true}]}
  - {match: {path: /guest}, upstream: api, limits: [{policy: gcra, key: guest, required: true}]}
  - {match: {path: /open}, upstream: api, limits: [{policy: gcra, unless: {address: office}}]}
  - {match: {path: /trial}, upstream: api, limits: [{policy: trial}]}
  - {match: {path: /asked}, decide: true, limits: [{policy: slots}], hold_lease: 30s}
  - name: changed
    match: {path: /changed}
    upstream: api
    response_headers: {set: {x-set: 1}, remove: [server]}
    limits: [{policy: gcra}]
)";

/// The report of these steps; empty if all are ok.
std::string failures_of(const std::string& steps) {
  static const Directory directory(limited);
  const std::string report = directory.report("config: weir.yaml\nsteps:\n" + steps);
  return report.ends_with(" ok\n") ? std::string() : report;
}

}  // namespace

TEST_CASE("Every algorithm counts on the virtual clock") {
  struct Row {
    const char* path;
    const char* denied_at;
    const char* retry_after;
    const char* admitted_at;
  };
  // Two requests at 0 s, then one that is denied, and one that is admitted when Retry-After is
  // over.
  const Row rows[] = {
      {"fixed", "9s", "1", "10s"},    {"attributed", "4s", "6", "10s"},
      {"sliding", "9s", "2", "11s"},  {"log", "9s", "1", "10s"},
      {"bucket", "4s", "1", "5s"},    {"gcra", "4s", "1", "5s"},
      {"clock", "1h", "82800", "1d"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    const std::string request = std::string("request: {url: \"http://a/") + row.path + "\"}";
    CHECK(failures_of("- {" + request + ", repeat: 2, expect: {status: 200, policy: " + row.path +
                      ", decision: allowed}}\n- {at: " + row.denied_at + ", " + request +
                      ", expect: {status: 429, retry_after: " + row.retry_after +
                      ", remaining: 0, charged: {" + row.path +
                      ": 0}}}\n- {at: " + row.admitted_at + ", " + request +
                      ", expect: {status: 200, charged: {" + row.path + ": 1}}}\n") == "");
  }
}

TEST_CASE("A leaky bucket delays, and the response comes later") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/leaky"}, expect: {status: 200, delay: 0s, decision: allowed}}
- {request: {url: "http://a/leaky"}, expect: {status: 200, delay: 5s, decision: delayed}}
- {request: {url: "http://a/leaky"}, expect: {status: 429, decision: denied, retry_after: 5}}
)") == "");
}

TEST_CASE("Requests in progress hold slots, and others wait for them") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/slots"}, response: {after: 3s}, expect: {status: 200, charged: {slots: 0}}}
- {at: 1s, request: {url: "http://a/slots"}, response: {until: 4s}, expect: {status: 200, delay: 2s, decision: delayed}}
- {at: 1s, request: {url: "http://a/slots"}, expect: {status: 429, policy: slots, retry_after: 1}}
- {at: 4s, request: {url: "http://a/slots"}, response: {after: 1h}, expect: {status: 499}, name: released before}
- {at: 5s, request: {url: "http://a/slots", leaves_after: 2s}, expect: {status: 499}}
- {at: 8s, request: {url: "http://a/slots"}, expect: {status: 429, delay: 5s}}
)") == R"(limits.yaml:7: step 4 "released before", at 4s: GET http://a/slots
  status: expected 499, found 200

    [explained]

limits.yaml: 1 of 6 steps failed
)");
}

TEST_CASE("Another proxy reports the end of a request that it decides about, or the lease ends") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/asked"}, response: {after: 3s}, expect: {status: 200}}
- {at: 3s, request: {url: "http://a/asked"}, expect: {status: 200, delay: 0s}}
- {at: 29s, request: {url: "http://a/asked"}, expect: {status: 200, delay: 4s}}
)") == "");
}

TEST_CASE("What the response states is charged") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/login"}, response: {status: 200}, repeat: 5, expect: {charged: {logins: 0}}}
- {request: {url: "http://a/login"}, response: {status: 401}, repeat: 2, expect: {charged: {logins: 1}}}
- {at: 1s, request: {url: "http://a/login"}, expect: {status: 429, retry_after: 59}}
- {request: {url: "http://a/chat", body: {max_tokens: 60}}, response: {json: {usage: {total: 20}}, after: 1s}, expect: {charged: {tokens: 20}, remaining: 40}}
- {request: {url: "http://a/chat"}, response: {headers: {x-usage: "7"}}, expect: {charged: {tokens: 7}}}
- {request: {url: "http://a/chat"}, response: {events: [{usage: {total: 3}}, {usage: {total: 5}}, "[DONE]"]}, expect: {charged: {tokens: 5}}}
- {request: {url: "http://a/chat"}, response: {body: no usage}, expect: {charged: {tokens: 10}}}
- {request: {url: "http://a/chat"}, response: {failure: timeout}, expect: {status: 504, charged: {tokens: 0}}}
- {request: {url: "http://a/chat"}, response: {failure: unreachable}, expect: {status: 502}}
- {request: {url: "http://a/chat", leaves_after: 1s}, response: {after: 2s}, expect: {status: 499, charged: {tokens: 10}}}
- {at: 1m, request: {url: "http://a/rejected"}, repeat: 2, every: 1s, expect: {charged: {rejected: 1}}}
)") == "");
}

TEST_CASE("The status of a gRPC call is charged, and Weir answers calls in the terms of gRPC") {
  CHECK(failures_of(R"(
- {request: &call {url: "http://a/auth.Sessions/Create", method: POST, headers: {content-type: application/grpc+proto}}, expect: {status: 200, grpc_status: 0, charged: {calls: 0}}}
- {request: *call, response: {status: 200}, expect: {grpc_status: 0, charged: {calls: 0}}}
- {request: *call, response: {grpc_status: 5}, expect: {status: 200, grpc_status: 5, charged: {calls: 0}}}
- {request: *call, response: {grpc_status: 16}, expect: {status: 200, grpc_status: 16, charged: {calls: 1}}}
- {request: *call, response: {headers: {grpc-status: "7"}}, expect: {grpc_status: 7, charged: {calls: 1}}}
- request: *call
  expect: {status: 200, grpc_status: 8, policy: calls, retry_after: 60, headers: {content-type: application/grpc, grpc-status: "8", grpc-retry-pushback-ms: "60000"}}
- {at: 2m, request: *call, response: {status: 503}, expect: {status: 503, grpc_status: 14, charged: {calls: 0}}}
- {request: *call, response: {status: 401}, expect: {status: 401, grpc_status: 16, charged: {calls: 1}}}
- {request: *call, response: {failure: unreachable}, expect: {status: 200, grpc_status: 14, charged: {calls: 0}}}
- {request: {url: "http://a/auth.Sessions/Create"}, response: {status: 401}, expect: {status: 401, charged: {calls: 0}}}
- {request: {url: "http://a/auth.Sessions/Closed", headers: {content-type: application/grpc}}, expect: {status: 200, grpc_status: 14, charged: {calls: 1}}}
- {request: {url: "http://a/none", headers: {content-type: application/grpc}}, expect: {status: 200, grpc_status: 12}}
- {at: 4m, request: {url: "http://a/auth.Sessions/Create", headers: {content-type: application/grpc}, leaves_after: 1s}, response: {grpc_status: 0, after: 2s}, expect: {status: 499, charged: {calls: 1}}}
)") == "");
}

TEST_CASE("The status of gRPC that a service sends counts for every request") {
  CHECK(failures_of(R"(
- {request: &other {url: "http://a/auth.Sessions/Create", method: POST, headers: {content-type: application/json}}, response: {grpc_status: 0}, expect: {status: 200, grpc_status: 0, charged: {calls: 0}}}
- {request: *other, response: {status: 401}, expect: {status: 401, charged: {calls: 0}}}
- {request: *other, response: {headers: {content-type: application/grpc}}, expect: {charged: {calls: 0}}}
- {request: *other, response: {grpc_status: 16}, expect: {status: 200, grpc_status: 16, charged: {calls: 1}}}
- {request: *other, response: {headers: {grpc-status: "7"}}, expect: {status: 200, charged: {calls: 1}}}
- {request: *other, expect: {status: 429, policy: calls}}
)") == "");
}

TEST_CASE("A status of gRPC that differs is shown") {
  const std::string steps = R"(
- {request: {url: "http://a/auth.Sessions/Create", headers: {content-type: application/grpc}}, expect: {grpc_status: 16}}
)";
  CHECK_THAT(failures_of(steps), Catch::Contains("grpc_status: expected 16, found 0"));
}

TEST_CASE("Claims stand for a verified token, and real tokens are verified") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/user", claims: {idp: {sub: alice}}}, expect: {status: 200, plan: free}}
- {request: {url: "http://a/user", claims: {idp: {sub: alice}}}, expect: {status: 429}}
- {request: {url: "http://a/user", claims: {idp: {sub: bob, plan: gold}}}, repeat: 2, expect: {status: 200, plan: gold}}
- {request: {url: "http://a/user", claims: {idp: {sub: root, plan: internal}}}, repeat: 9, expect: {status: 200, decision: none}}
- {request: {url: "http://a/user", claims: {idp: {sub: eve, exp: 1000}}}, expect: {status: 401, decision: error}}
- {request: {url: "http://a/user", claims: {idp: {sub: eve, aud: else}}}, expect: {status: 401}}
- {request: {url: "http://a/user", headers: {authorization: Bearer e30.e30.AAAA}}, expect: {status: 401}}
- {request: {url: "http://a/user"}, expect: {status: 401}}
- {request: {url: "http://a/member", headers: {cookie: a=b}, claims: {session: {user: {id: 5}}}}, expect: {status: 200, policy: gcra}}
- {request: {url: "http://a/guest?x=y", claims: {link: {sub: g}}}, expect: {status: 200, remaining: 1}}
- {at: 10d, repeat: 2, every: 1h, request: {url: "http://a/guest", claims: {link: {sub: g}}}, expect: {status: 200, remaining: 1}}
)") == "");
}

TEST_CASE("Addresses, conditions, shadow policies and overrides count as in a running instance") {
  CHECK(failures_of(R"(
- {request: {url: "http://a/open", peer: 192.0.2.7}, repeat: 5, expect: {status: 200, decision: none}}
- {request: {url: "http://a/open", peer: 10.0.0.1, headers: {x-forwarded-for: 192.0.2.9}}, expect: {decision: none}}
- {request: {url: "http://a/open", peer: 198.51.100.1}, repeat: 3, expect: {statuses: {200: 2, 429: 1}}}
- {request: {url: "http://a/trial"}, repeat: 2, every: 1s, expect: {status: 200, upstream: api}}
- {request: {url: "http://a/trial"}, expect: {decision: shadow_denied, charged: {trial: 0}}}
- {override: {identity: key, key: k, policy: tokens, rate: 30/1h}}
- {override: {identity: key, key: k, policy: tokens, rate: 20/1h}}
- {request: {url: "http://a/chat", headers: {x-key: k}}, repeat: 3, expect: {statuses: {200: 2, 429: 1}}}
- {override: {identity: key, key: k, deny: true}}
- {request: {url: "http://a/chat", headers: {x-key: k}}, expect: {status: 403, decision: denied}}
- {request: {url: "http://a/none"}, expect: {status: 404, route: none, decision: none}}
- {request: {url: "http://a/open", headers: {content-length: x}}, expect: {status: 400, route: none}}
)") == "");
}

TEST_CASE("The response has the fields and the body that a client gets") {
  CHECK(failures_of(R"(
- request: {url: "http://a/changed"}
  response: {headers: {server: s, x-own: "2"}, body: hello}
  expect:
    body: hello
    headers: {x-set: "1", server: ~, x-own: "2", ratelimit-remaining: "1", retry-after: ~, content-length: "5"}
- request: {url: "http://a/changed"}
  expect: {status: 200}
- request: {url: "http://a/changed"}
  expect:
    headers: {x-set: "1", retry-after: "5", content-type: application/problem+json, ratelimit: "\"gcra\";r=0;t=5"}
- request: {url: "http://a/user"}
  expect: {headers: {www-authenticate: Bearer}}
- request: {url: "http://a/changed", method: HEAD, peer: 192.0.2.1}
  response: {body: hello}
  expect: {body: ""}
)") == "");
}

TEST_CASE("The value of a variable is not shown") {
  const Directory directory(
      "routes: [{respond: {status: 200, body: \"${SCENARIO_BODY}\", headers: {x-a: "
      "\"${SCENARIO_FIELD}\"}}}]\n");
  const std::string report = directory.report(R"(
variables: {SCENARIO_BODY: s3cr3t-body, SCENARIO_FIELD: s3cr3t-field}
config: weir.yaml
steps:
- name: with ${HOME}
  request: {url: "http://a${HOME}?key=1"}
  expect: {body: "other", headers: {x-a: "${HOME}"}}
)");
  CHECK_THAT(report,
             Catch::Contains("header x-a: expected \"${HOME}\", found \"${SCENARIO_FIELD}\""));
  CHECK_THAT(report, Catch::Contains("body: expected \"other\", found \"${SCENARIO_BODY}\""));
  CHECK_THAT(report, Catch::Contains(R"(step 1 "with ${HOME}", at 0s: GET http://a${HOME})"));
  CHECK_THAT(report, !Catch::Contains("s3cr3t"));
}

TEST_CASE("Steps run in the order of their instants") {
  CHECK(failures_of(R"(
- {at: 9s, request: {url: "http://a/log"}, expect: {status: 429}}
- {at: 0s, request: {url: "http://a/log"}, repeat: 2, every: 5s, expect: {status: 200}}
)") == "");
}

TEST_CASE("A failed step shows the first request that failed, and how many did") {
  CHECK(failures_of(R"(
- {at: 1s, request: {url: "http://a/gcra?key=secret"}, repeat: 5, every: 10ms, expect: {status: 200, remaining: 1}}
- {at: 2s, request: {url: "http://a/log", peer: 192.0.2.9}, repeat: 3, expect: {statuses: {200: 3}}}
)") == R"(limits.yaml:4: step 1, at 1010ms: GET http://a/gcra
  remaining: expected 1, found 0
  4 of 5 requests failed; the first one was number 2

    [explained]

limits.yaml:5: step 2, at 2s: GET http://a/log
  responses with status 200: expected 3, found 2
  responses with status 429: expected 0, found 1

    [explained]

limits.yaml: 2 of 2 steps failed
)");
}

}  // namespace weir::scenario::test
