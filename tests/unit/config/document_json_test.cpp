#include "config/document_json.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "config/load.hpp"

namespace weir::config {
namespace {

using nlohmann::json;

json document_of(const std::string& yaml) {
  auto environment = process_environment(".");
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "REDIS_HOST") return "h";
    if (name == "URL") return "redis://h";
    return "value-of-the-variable";
  };
  const auto loaded = load_text(yaml, environment);
  if (!loaded) FAIL(loaded.error().front().to_string());
  return json::parse((*loaded)->presentation.document);
}

}  // namespace

TEST_CASE("a configuration is shown as it is written") {
  const json found = document_of(R"(
workers: 3
shutdown_timeout: 5s
policies: {p: {algorithm: sliding_log, rate: 3/1s, count_rejected: true, cost: "2"}}
routes:
  - {respond: {status: 204, content_type: "${TYPE}"}, limits: [{policy: p}]}
)");
  CHECK(found == json::parse(R"({
    "workers": 3,
    "shutdown_timeout": "5s",
    "policies": {"p": {"algorithm": "sliding_log", "rate": "3/1s", "count_rejected": true, "cost": 2}},
    "routes": [{"respond": {"status": 204, "content_type": "${TYPE}"}, "limits": [{"policy": "p"}]}]
  })"));
}

TEST_CASE("secrets are not shown, and the places of others are") {
  const std::string yaml = R"(
admin: {address: "127.0.0.1:9090", token: token-in-the-file}
identity_secret: ${IDENTITY_SECRET}
store: {type: redis, redis: {url: "redis://:password-in-the-file@127.0.0.1/0", replicas: 2}}
upstreams: {api: {servers: [{url: "http://127.0.0.1:1"}]}}
jwt_providers:
  idp: {algorithms: [HS256], secret: a-secret-of-the-issuer-in-the-file}
  keyed: {algorithms: [ES256], jwks: {url: "https://issuer.example/keys?key=in-the-file"}}
  plain: {algorithms: [ES256], jwks: {url: "https://issuer.example/keys"}}
routes:
  - match: {headers: {x-edge: from-the-edge-only}}
    upstream: api
    request_headers: {set: {authorization: Bearer credentials, x-from: "${FROM}"}}
    response_headers: {set: {x-shown: shown}}
)";
  const json found = document_of(yaml);
  CHECK(found["admin"]["token"] == hidden_secret);
  CHECK(found["identity_secret"] == "${IDENTITY_SECRET}");
  CHECK(found["store"]["redis"]["url"] == hidden_secret);
  CHECK(found["store"]["redis"]["replicas"] == 2);
  CHECK(found["jwt_providers"]["idp"]["secret"] == hidden_secret);
  CHECK(found["jwt_providers"]["keyed"]["jwks"]["url"] == hidden_secret);
  CHECK(found["jwt_providers"]["plain"]["jwks"]["url"] == "https://issuer.example/keys");
  const json& route = found["routes"][0];
  CHECK(route["match"]["headers"]["x-edge"] == hidden_secret);
  CHECK(route["request_headers"]["set"]["authorization"] == hidden_secret);
  CHECK(route["request_headers"]["set"]["x-from"] == "${FROM}");
  CHECK(route["response_headers"]["set"]["x-shown"] == "shown");
  CHECK(found.dump().find("in-the-file") == std::string::npos);
  CHECK(found.dump().find("value-of-the-variable") == std::string::npos);
}

TEST_CASE("a secret that is only in part in a variable is not shown") {
  const std::string url =
      GENERATE("\"redis://weir:hunter2@${REDIS_HOST}:6379\"", "\"${URL:-redis://:hunter2@h}\"");
  const json found =
      document_of("store: {type: redis, redis: {replicas: 2, url: " + url +
                  "}}\nidentity_secret: ${S:-hunter2-hunter2-hunter2}\n"
                  "upstreams: {api: {servers: [{url: \"http://127.0.0.1:1\"}]}}\n"
                  "routes: [{upstream: api, request_headers: {set: "
                  "{authorization: \"Bearer hunter2-${X}\", x-a: \"file:hunter2\"}}}]\n");
  CHECK(found.dump().find("hunter2") == std::string::npos);
}

}  // namespace weir::config
