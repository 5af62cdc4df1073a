#include "cli/explanation.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "cli/explain_request.hpp"
#include "config/load.hpp"

namespace {

using nlohmann::json;
using weir::cli::Explanation;

constexpr auto yaml = R"(
listen: [{address: "127.0.0.1:0"}]
client_address: {trusted_proxies: [10.0.0.0/8]}
downstream: {max_body: 10}
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
identities:
  client: {client_address: {}}
  user: {header: x-user}
  key: {any_of: [{header: x-key}, {query: key}]}
policies:
  per_user: {algorithm: gcra, rate: 600/1m, burst: 20}
  per_client: {algorithm: token_bucket, rate: 10/1s}
  small: {algorithm: fixed_window, rate: 3/1m, status: 503}
  watched: {algorithm: sliding_log, rate: 1/1m, mode: shadow}
  smooth: {algorithm: leaky_bucket, rate: 10/1s, queue: 5}
  tiers: {algorithm: sliding_window, rates: [10/1s, 100/1m]}
routes:
  - name: search
    match: {path: /v1/search, methods: [GET]}
    upstream: api
    limits: [{policy: per_user, key: user, otherwise: client, cost: 5}, {policy: per_client, key: key}]
  - name: costly
    match: {path: /costly}
    respond: {status: 200}
    limits: [{policy: small, key: client, cost: 5}, {policy: per_client, key: client}]
  - name: private
    match: {path: /private}
    upstream: api
    limits: [{policy: per_user, key: user, required: true}, {policy: per_client, key: client}]
  - name: shadow
    match: {path: /shadow}
    respond: {status: 204}
    limits: [{policy: watched, key: client, cost: 2}]
  - name: smooth
    match: {path: /smooth}
    respond: {status: 200}
    limits: [{policy: smooth, key: client}, {policy: tiers, key: user}]
  - name: asked
    match: {path: /asked/**}
    decide: true
)";

std::shared_ptr<const weir::config::Config> loaded(const std::string& text = yaml) {
  auto environment = weir::config::process_environment(".");
  environment.variable = [](const std::string&) { return "77"; };
  const auto result = weir::config::load_text(text, environment);
  if (!result) FAIL(result.error().front().to_string());
  return *result;
}

struct Sent {
  weir::cli::RequestArguments arguments;
  std::string peer = "192.0.2.7";
};

Explanation explained(const weir::config::Config& config, const Sent& sent) {
  const auto head = weir::cli::request_head(sent.arguments);
  REQUIRE(head.has_value());
  const auto peer = weir::identity::IpAddress::parse(sent.peer);
  REQUIRE(peer.has_value());
  return weir::cli::explain(config, *peer, *head, weir::instant_from_us(1'000'000'000'000'000));
}

json explained_json(const Sent& sent) {
  const auto config = loaded();
  return json::parse(weir::cli::to_json(explained(*config, sent)));
}

Sent get(const std::string& target, std::vector<std::string> fields = {}) {
  return {.arguments = {.url = "http://api.example.com" + target, .fields = std::move(fields)}};
}

}  // namespace

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

TEST_CASE("limits that were not decided say so") {
  const json found = explained_json(get("/private"));
  CHECK(found["limits"][0]["because"] == "user is absent, and it is required");
  CHECK(found["limits"][1]["because"] == "client is present; not decided");
  CHECK(found["limits"][1]["applies"] == false);
  CHECK(found["limits"][1]["identity"]["present"] == true);
}

TEST_CASE("a decision for another proxy is about the request that it describes") {
  Sent sent = get("/auth", {"X-Original-URI: /asked/x"});
  sent.peer = "10.0.0.1";
  CHECK(explained_json(sent)["route"] == "asked");
  sent.peer = "192.0.2.7";
  CHECK(explained_json(sent)["route"] == nullptr);
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

TEST_CASE("numbers from variables are not shown, nor is what follows from them") {
  const auto with_variable = [](std::string_view number) {
    std::string text = yaml;
    const std::string rate = "rate: 10/1s}";
    text.replace(text.find(rate), rate.size(), "rate: \"" + std::string(number) + "\"}");
    return text;
  };
  const auto config = loaded(with_variable("${RATE}/1s"));
  const Explanation found = explained(*config, get("/costly"));
  const std::string as_json = weir::cli::to_json(found);
  const json limit = json::parse(as_json)["limits"][1];
  CHECK(limit["numbers"]["limit"] == "(from the environment)");
  CHECK(limit["remaining"] == "(from the environment)");
  CHECK(as_json.find("77") == std::string::npos);
  CHECK(weir::cli::to_text(found).find("77") == std::string::npos);
}

TEST_CASE("conditions from variables are shown as the configuration has them") {
  const auto config = loaded(R"(
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

TEST_CASE("the text of an explanation") {
  const auto config = loaded();
  const std::string text = weir::cli::to_text(explained(*config, get("/v1/search?key=secret")));
  CHECK(
      text.starts_with("request     GET /v1/search\n"
                       "host        api.example.com\n"
                       "client      192.0.2.7\n"
                       "route       search\n"
                       "upstream    api\n"
                       "\n"
                       "limit       per_user: gcra 600/1m, 20 at once (from the policy)\n"
                       "  applies   yes: user is absent, client is present\n"
                       "  key       client (client_address) hash "));
  CHECK(text.find("  cost      5\n"
                  "  answer    allowed, 15 remaining, all of it again after 500 ms\n") !=
        std::string::npos);
  CHECK(text.ends_with("\nverdict     allowed, forwarded to api\n"));
  CHECK(text.find("secret") == std::string::npos);

  const std::string refused = weir::cli::to_text(explained(*config, get("/none")));
  CHECK(refused.find("route       none\n"
                     "skipped     search: path does not match /v1/search\n"
                     "            costly: path does not match /costly\n") != std::string::npos);
  CHECK(refused.ends_with("verdict     refused, status 404: no route matches the request\n"));
}

TEST_CASE("the text shows times, and a denial that does not end") {
  const auto config = loaded(R"(
listen: [{address: "127.0.0.1:0"}]
identities: {client: {client_address: {}}}
policies: {p: {algorithm: gcra, rate: 10/25s}, q: {algorithm: gcra, rate: 1/1m}}
routes:
  - match: {path: /a}
    respond: {status: 200}
    limits: [{policy: p, key: client, cost: 6}]
  - match: {path: /b}
    respond: {status: 200}
    limits: [{policy: q, key: client, cost: 2}]
)");
  const std::string allowed = weir::cli::to_text(explained(*config, get("/a")));
  CHECK(allowed.find("allowed, 4 remaining, all of it again after 15.0 s\n") != std::string::npos);
  const std::string never = weir::cli::to_text(explained(*config, get("/b")));
  CHECK(never.find("denied, 1 remaining, never succeeds: the cost is above the limit\n") !=
        std::string::npos);
  CHECK(never.ends_with("verdict     denied, status 429\n"));
}

TEST_CASE("lines of the text have at most 80 characters, and long lists are cut") {
  std::string many = "listen: [{address: \"127.0.0.1:0\"}]\nroutes:\n";
  for (int i = 0; i < 25; ++i)
    many += "  - {name: \"route number " + std::to_string(i) + "\", match: {path: \"/" +
            std::string(20, 'a') + std::to_string(i) +
            "\", methods: [GET, PUT]}, respond: {status: 200}}\n";
  const auto config = loaded(many);
  const Explanation found = explained(*config, get("/none"));
  CHECK(found.skipped.size() == 25);
  std::istringstream lines(weir::cli::to_text(found));
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, line.size());
  CHECK(longest <= 80);
  CHECK(weir::cli::to_text(found).find("            and 5 more; --json lists all\n") !=
        std::string::npos);
}
