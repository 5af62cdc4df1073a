#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "unit/cli/explained.hpp"

namespace weir::cli {
namespace {

using nlohmann::json;

json explained_json(const Sent& sent) {
  const auto config = loaded_config();
  return json::parse(to_json(explained(*config, sent)));
}

TEST_CASE("explain --json has the members of the contract") {
  const json found = explained_json(get("/v1/search", {"X-User: alice"}));
  CHECK(found["route"] == "search");
  CHECK(found["upstream"] == "api");
  CHECK(found["plan"] == nullptr);
  CHECK(found["skipped"] == json::array());
  REQUIRE(found["limits"].size() == 2);
  const json& user = found["limits"][0];
  CHECK(user["policy"] == "per_user");
  CHECK(user["algorithm"] == "gcra");
  CHECK(user["applies"] == true);
  CHECK(user["because"] == "user is present");
  CHECK(user["identity"]["name"] == "user");
  CHECK(user["identity"]["source"] == "header x-user");
  CHECK(user["identity"]["present"] == true);
  CHECK(user["identity"]["hash"].get<std::string>().size() == 32);
  CHECK(user["cost"] == 5);
  CHECK(
      user["numbers"] ==
      json({{"rate", "600/1m"}, {"limit", 20}, {"window", 2}, {"burst", 20}, {"from", "policy"}}));
  CHECK(user["allowed"] == true);
  CHECK(user["remaining"] == 15);
  CHECK(user["reset_after"] == 0.5);
  CHECK(user["retry_after"] == nullptr);
  const json& key = found["limits"][1];
  CHECK(key["applies"] == false);
  CHECK(key["because"] == "key is absent");
  CHECK(key["identity"] == json({{"name", "key"},
                                 {"source", "any of (header x-key, query key)"},
                                 {"present", false},
                                 {"hash", nullptr}}));
  for (const char* const name : {"allowed", "remaining", "reset_after", "retry_after"})
    CHECK(key[name] == nullptr);
  CHECK(found["verdict"] ==
        json({{"outcome", "allowed"}, {"status", nullptr}, {"retry_after", nullptr}}));
}

TEST_CASE("a CORS preflight request is not charged, unless the policy charges it") {
  Sent preflight = get("/private", {"Access-Control-Request-Method: PUT"});
  preflight.arguments.method = "OPTIONS";
  const json found = explained_json(preflight);
  for (const json& limit : found["limits"]) {
    CHECK(limit["applies"] == false);
    CHECK(limit["because"] ==
          "not charged: a CORS preflight request, and charge_preflight is not set");
  }
  CHECK(found["verdict"]["outcome"] == "allowed");
  const auto config = loaded_config(
      "policies: {p: {rate: 1/s, charge_preflight: true}, q: {rate: 1/s}}\n"
      "routes: [{respond: {}, limits: [{policy: q}, {policy: p}]}]\n");
  const json charged = json::parse(to_json(explained(*config, preflight)));
  CHECK(charged["limits"][0]["applies"] == false);
  CHECK(charged["limits"][1]["applies"] == true);
  CHECK(charged["limits"][1]["remaining"] == 0);
}

TEST_CASE("a changed path is shown, without the content of a variable") {
  const auto config = loaded_config(R"(
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
routes:
  - {match: {path: "/a/**"}, upstream: api, strip_prefix: /a}
  - {match: {path: "/b/{id}"}, upstream: api, path: "/hooks/${SECRET}/{id}"}
  - {match: {path: /c}, upstream: api}
)");
  const auto path_of = [&](const std::string& target) {
    return json::parse(to_json(explained(*config, get(target)))).value("upstream_path", "none");
  };
  CHECK(path_of("/a/x%20y?q=secret") == "/x%20y");
  CHECK(path_of("/b/7") == config::from_environment);
  CHECK(path_of("/c") == "none");
  CHECK(to_text(explained(*config, get("/a/x"))).find("\n  path      /x\n") != std::string::npos);
  const auto refused = json::parse(to_json(explained(*config, get("/a/..;/x"))));
  CHECK(refused["verdict"]["status"] == 400);
  CHECK(refused["verdict"]["outcome"] == "refused");
}

TEST_CASE("an identity shows where it came from") {
  const json otherwise = explained_json(get("/v1/search?key=k"));
  CHECK(otherwise["limits"][0]["because"] == "user is absent, client is present");
  CHECK(otherwise["limits"][0]["identity"]["name"] == "client");
  CHECK(otherwise["limits"][1]["identity"]["source"] == "query key");
  const json both = explained_json(get("/v1/search?key=k", {"X-Key: h"}));
  CHECK(both["limits"][1]["identity"]["source"] == "header x-key");
  // The same value from two places is two identities; a value never appears.
  CHECK(both["limits"][1]["identity"]["hash"] != otherwise["limits"][1]["identity"]["hash"]);
}

TEST_CASE("the client is the peer, or the address that a trusted proxy names") {
  const auto hash = [](const std::string& peer, std::vector<std::string> fields) {
    Sent sent = get("/costly", std::move(fields));
    sent.peer = peer;
    return explained_json(sent)["limits"][0]["identity"]["hash"];
  };
  const json peer = hash("192.0.2.7", {});
  CHECK(hash("192.0.2.7", {"X-Forwarded-For: 192.0.2.8"}) == peer);
  CHECK(hash("10.0.0.1", {"X-Forwarded-For: 192.0.2.7"}) == peer);
  CHECK(hash("192.0.2.8", {}) != peer);
}

TEST_CASE("routes before the one that matches are listed with a reason") {
  const json found = explained_json(get("/shadow"));
  CHECK(found["route"] == "shadow");
  CHECK(found["upstream"] == nullptr);
  CHECK(found["skipped"] ==
        json({{{"route", "search"}, {"because", "path does not match /v1/search"}},
              {{"route", "costly"}, {"because", "path does not match /costly"}},
              {{"route", "private"}, {"because", "path does not match /private"}}}));
}

TEST_CASE("every outcome of a fresh store") {
  const auto verdict = [](const Sent& sent) { return explained_json(sent)["verdict"]; };
  CHECK(verdict(get("/v1/search"))["outcome"] == "allowed");
  CHECK(verdict(get("/shadow")) ==
        json({{"outcome", "shadow_denied"}, {"status", 204}, {"retry_after", nullptr}}));
  CHECK(verdict(get("/smooth"))["outcome"] == "allowed");
  CHECK(verdict(get("/asked/x")) ==
        json({{"outcome", "allowed"}, {"status", 200}, {"retry_after", nullptr}}));
  // A cost above the limit never succeeds, so there is no time to wait for.
  CHECK(verdict(get("/costly")) ==
        json({{"outcome", "denied"}, {"status", 503}, {"retry_after", nullptr}}));
  const json denied = explained_json(get("/costly"));
  CHECK(denied["limits"][0]["allowed"] == false);
  CHECK(denied["limits"][0]["remaining"] == 3);
  CHECK(denied["limits"][1]["remaining"] == 10);  // all or nothing
}

TEST_CASE("a refused request shows the answer of the proxy") {
  const auto refused = [](const Sent& sent) {
    const json found = explained_json(sent);
    CHECK(found["verdict"]["outcome"] == "refused");
    return std::pair{found["verdict"]["status"].get<int>(), found["route"]};
  };
  CHECK(refused(get("/none")) == std::pair{404, json()});
  CHECK(refused(get("/costly%2Fx")).first == 400);
  CHECK(refused(get("/private")) == std::pair{401, json("private")});
  CHECK(refused(get("/private", {"X-User: a", "X-User: b"})).first == 400);
  CHECK(refused(get("/private", {"X_User: a"})).first == 400);
  CHECK(refused(get("/costly", {"Content-Length: 11"})).first == 413);
  CHECK(refused(get("/" + std::string(9000, 'a'))).first == 414);
  CHECK(refused(get("/" + std::string(40'000, 'a'))).first == 414);
  CHECK(refused(get("/", {"X: " + std::string(40'000, 'a')})).first == 431);
  CHECK(refused(get("/v1/search?key=a&key=b")) == std::pair{400, json("search")});
  CHECK(refused({.arguments = {.method = "get", .url = "http://a/"}}).first == 400);
  CHECK(refused({.arguments = {.method = "TRACE", .url = "http://a/"}}).first == 405);
}

TEST_CASE("limits that were not decided are marked") {
  const json found = explained_json(get("/private"));
  CHECK(found["limits"][0]["because"] == "user is absent, and it is required");
  CHECK(found["limits"][1]["because"] == "not evaluated: the limit before refuses the request");
  CHECK(found["limits"][1]["applies"] == false);
  CHECK(found["limits"][1]["identity"]["name"] == "client");
  CHECK(found["limits"][1]["identity"]["present"] == nullptr);
  const auto config = loaded_config(
      "identities: {user: {header: x-user}}\npolicies: {p: {rate: 1/s}}\n"
      "routes: [{respond: {}, limits: [{policy: p}, {policy: p, key: user, required: true}]}]\n");
  const json late = json::parse(to_json(explained(*config, get("/"))));
  CHECK(late["limits"][0]["because"] == "client is present; not decided");
  CHECK(late["limits"][0]["applies"] == false);
}

TEST_CASE("the plan of a request is shown even if no limit needs it") {
  const auto config = loaded_config(R"(
client_address: {trusted_proxies: [192.0.2.7]}
plans: {gold: {p: {rate: 5/1s}}}
plan_from: [{header: x-plan}]
policies: {p: {rate: 1/1s}, q: {rate: 1/1s}}
routes:
  - {match: {path: /p}, respond: {}, limits: [{policy: p}]}
  - {match: {path: /q}, respond: {}, limits: [{policy: q}]}
  - {respond: {}}
)");
  const auto plan_of = [&](const char* target) {
    return json::parse(to_json(explained(*config, get(target, {"X-Plan: gold"}))))["plan"];
  };
  CHECK(plan_of("/p") == "gold");
  CHECK(plan_of("/q") == "gold");
  CHECK(plan_of("/free") == nullptr);
}

TEST_CASE("a decision for another proxy is about the request that it describes") {
  Sent sent = get("/auth", {"X-Original-URI: /asked/x"});
  sent.peer = "10.0.0.1";
  CHECK(explained_json(sent)["route"] == "asked");
  sent.peer = "192.0.2.7";
  CHECK(explained_json(sent)["route"] == nullptr);
}

TEST_CASE("a decision for another proxy shows the request that it is about") {
  struct Row {
    std::vector<std::string> fields;
    std::string peer;
    json expected;
  };
  const auto original = [](const char* method, const char* path, const char* host,
                           const char* because) {
    return json({{"method", method}, {"path", path}, {"host", host}, {"because", because}});
  };
  const std::vector<Row> rows{
      // As nginx describes it; the query, which may hold an identity, is not shown.
      {{"X-Original-URI: /asked/x?key=secret", "X-Original-Method: PUT"},
       "10.0.0.1",
       original("PUT", "/asked/x", "weir.test", "described by X-Original-URI, X-Original-Method")},
      // As Traefik and Caddy do.
      {{"x-forwarded-method: POST", "x-forwarded-host: api.test:81", "x-forwarded-uri: /asked/y"},
       "10.0.0.1",
       original("POST", "/asked/y", "api.test",
                "described by x-forwarded-method, x-forwarded-host, x-forwarded-uri")},
      // No route matches.
      {{"X-Original-URI: /none"},
       "10.0.0.1",
       original("GET", "/none", "weir.test", "described by X-Original-URI")},
      {{"X-Original-URI: /none"},
       "192.0.2.7",
       original("GET", "/asked/auth", "weir.test",
                "the request itself: the peer is not in client_address.trusted_proxies")},
      {{"X-Forwarded-Host: api.test"},
       "10.0.0.1",
       original("GET", "/asked/auth", "weir.test",
                "the request itself: it has no X-Original-URI or X-Forwarded-Uri")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fields.front(), row.peer);
    const Sent sent{.arguments = {.url = "http://weir.test/asked/auth", .fields = row.fields},
                    .peer = row.peer};
    CHECK(explained_json(sent)["original_request"] == row.expected);
  }
  CHECK_FALSE(explained_json(get("/none")).contains("original_request"));
  CHECK_FALSE(explained_json(get("/costly")).contains("original_request"));
}

TEST_CASE("the numbers of each algorithm") {
  const json limits = explained_json(get("/smooth", {"X-User: u"}))["limits"];
  CHECK(limits[0]["numbers"] == json({{"rate", "10/1s"},
                                      {"limit", 6},
                                      {"window", 0.6},
                                      {"queue", 5},
                                      {"max_delay", 0.5},
                                      {"from", "policy"}}));
  CHECK(limits[1]["numbers"]["rates"] == json({"10/1s", "100/1m"}));
  CHECK(limits[1]["numbers"]["limit"] == 10);
}

TEST_CASE("numbers from variables, and results that follow from them, are not shown") {
  const auto with_variable = [](std::string_view number) {
    std::string text = explained_yaml;
    const std::string rate = "rate: 10/1s}";
    text.replace(text.find(rate), rate.size(), "rate: \"" + std::string(number) + "\"}");
    return text;
  };
  const auto config = loaded_config(with_variable("${RATE}/1s"));
  const Explanation found = explained(*config, get("/costly"));
  const std::string as_json = to_json(found);
  const json limit = json::parse(as_json)["limits"][1];
  CHECK(limit["numbers"]["limit"] == "(from the environment)");
  CHECK(limit["remaining"] == "(from the environment)");
  CHECK(as_json.find("77") == std::string::npos);
  CHECK(to_text(found).find("77") == std::string::npos);
}

TEST_CASE("a number is hidden if it comes from a variable, and not because another one does") {
  constexpr auto text = R"(
identities: {client: {client_address: {}}}
policies:
  rate: {algorithm: gcra, rate: "${RATE}/1m"}
  cost: {algorithm: gcra, rate: 100/1m, cost: "${COST}"}
  both: {algorithm: gcra, rate: 200/1m}
routes:
  - match: {path: /a}
    respond: {status: 200}
    limits:
      - {policy: rate, key: client, cost: 41}
      - {policy: cost, key: client}
      - {policy: both, key: client, cost: "${COST}"}
  - match: {path: /b/*}
    encoded_slashes: match_both
    respond: {status: 200}
    limits: [{policy: cost, key: client, cost: 41}, {policy: both, key: client, cost: 41}]
  - match: {path: /b/**}
    encoded_slashes: match_both
    respond: {status: 200}
    limits: [{policy: both, key: client, cost: "${COST}"}]
)";
  const auto config = loaded_config(text);
  const auto limits_of = [&](const char* target) {
    return json::parse(to_json(explained(*config, get(target))))["limits"];
  };
  constexpr auto hidden = "(from the environment)";
  const json a = limits_of("/a");
  CHECK(a[0]["cost"] == 41);
  CHECK(a[0]["numbers"]["limit"] == hidden);
  CHECK(a[0]["remaining"] == hidden);
  CHECK(a[0]["retry_after"] == nullptr);  // there is none
  for (const std::size_t i : {1U, 2U}) {
    CHECK(a[i]["cost"] == hidden);
    CHECK(a[i]["numbers"]["limit"] == (i == 1 ? 100 : 200));
    CHECK(a[i]["remaining"] == hidden);
    CHECK(a[i]["reset_after"] == hidden);
  }
  // The cost of the limit replaces that of its policy.
  const json b = limits_of("/b/x%2Fy");
  CHECK(b[0]["cost"] == 41);
  CHECK(b[0]["remaining"] == 59);
  // Charged once with the limit of another route, by the higher cost: 77 here.
  REQUIRE(b.size() == 3);
  CHECK(b[1]["cost"] == hidden);
  CHECK(b[2]["cost"] == hidden);
  CHECK(to_json(explained(*config, get("/b/x%2Fy"))).find("77") == std::string::npos);
  CHECK(to_text(explained(*config, get("/a"))).find("  cost      41\n") != std::string::npos);
}

TEST_CASE("without the keys of a URL the verdict is unknown, with what to do") {
  const auto config = loaded_config(R"(
jwt_providers: {idp: {algorithms: [ES256], jwks: {url: "https://issuer.example/jwks.json"}}}
identities: {user: {jwt: {provider: idp, claim: sub}}}
policies: {p: {rate: 1/1s}}
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
routes: [{name: a, upstream: api, limits: [{policy: p, key: user}]}]
)");
  // {"alg":"ES256"}.{"exp":9000000000}
  const Sent sent = get("/", {"Authorization: Bearer eyJhbGciOiJFUzI1NiJ9."
                              "eyJleHAiOjkwMDAwMDAwMDB9.AAAA"});
  const json verdict = json::parse(to_json(explained(*config, sent)))["verdict"];
  CHECK(verdict["outcome"] == "unknown");
  CHECK(verdict["status"] == nullptr);
  CHECK(verdict["detail"] ==
        "explain opens no connection, so it has no keys for tokens of the provider idp (jwks: "
        "{url}); save the JWK set of that URL to a file, and use jwks: {file: NAME} in a copy of "
        "the configuration");
  const std::string text = to_text(explained(*config, sent));
  CHECK(text.find("verdict     unknown: explain opens no connection") != std::string::npos);
  CHECK(text.find("forwarded") == std::string::npos);
  CHECK(explained(*config, get("/")).verdict.outcome == "allowed");
}

TEST_CASE("conditions from variables are shown as the configuration has them") {
  const auto config = loaded_config(R"(
routes:
  - {name: a, match: {path: /a, host: "${HOST}.test"}, respond: {status: 200}}
  - {name: b, match: {path: "/${PART}"}, respond: {status: 200}}
  - {name: c, match: {path: /a, methods: [GET, "${METHOD}"]}, respond: {status: 200}}
)");
  Sent sent = get("/a");
  sent.arguments.method = "PUT";
  const Explanation found = explained(*config, sent);
  REQUIRE(found.skipped.size() == 3);
  CHECK(found.skipped[0].because == "host does not match ${HOST}.test");
  CHECK(found.skipped[1].because == "path does not match /${PART}");
  CHECK(found.skipped[2].because == "method is not GET or ${METHOD}");
}

}  // namespace
}  // namespace weir::cli
