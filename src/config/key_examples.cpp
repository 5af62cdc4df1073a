#include "config/key_examples.hpp"

#include <algorithm>
#include <iterator>

namespace weir::config {
namespace {

struct Example {
  std::string_view shape;
  std::string_view value;
};

constexpr std::string_view tls_files = "{ca: ca.pem}";
constexpr std::string_view claim = "{provider: NAME, claim: sub}";
constexpr std::string_view some_condition = "{address: LIST} or {plan: [NAME]}";

constexpr Example examples[] = {
    {"", "routes: [{respond: {status: 200}}]"},
    {"listen[]", "{address: \"0.0.0.0:8080\"}"},
    {"listen[].address", "0.0.0.0:8080"},
    {"listen[].tls", "{certificate: tls.crt, private_key: tls.key}"},
    {"listen[].tls.certificate", "tls.crt"},
    {"listen[].tls.private_key", "tls.key"},
    {"listen[].tls.certificates[]", "{certificate: tls.crt, private_key: tls.key}"},
    {"listen[].tls.certificates[].certificate", "tls.crt"},
    {"listen[].tls.certificates[].private_key", "tls.key"},
    {"admin", "{address: \"127.0.0.1:9090\"}"},
    {"client_address", "{trusted_proxies: [10.0.0.0/8]}"},
    {"downstream", "{max_body: 1MiB}"},
    {"paths", "{also_match: [trailing_slash]}"},
    {"response_headers", "{legacy: x_ratelimit}"},
    {"denied", "{status: 429, headers: {cache-control: no-store}}"},
    {"denied.headers", "{access-control-allow-origin: \"*\"}"},
    {"policies.*.headers", "{access-control-allow-origin: \"*\"}"},
    {"access_log", "{path: access.log} or off"},
    {"store", "{type: redis, redis: {url: \"redis://127.0.0.1:6379\"}}"},
    {"store.memory", "{max_keys: 1000000}"},
    {"store.redis", "{url: \"redis://127.0.0.1:6379\"}"},
    {"store.redis.tls", tls_files},
    {"store.redis.breaker", "{failures: 5, retry_after: 1s}"},
    {"upstreams", "api: {servers: [{url: \"http://127.0.0.1:3000\"}]}"},
    {"upstreams.*", "{servers: [{url: \"http://127.0.0.1:3000\"}]}"},
    {"upstreams.*.servers", "[{url: \"http://127.0.0.1:3000\"}]"},
    {"upstreams.*.servers[]", "{url: \"http://127.0.0.1:3000\"}"},
    {"upstreams.*.servers[].url", "http://127.0.0.1:3000"},
    {"upstreams.*.tls", tls_files},
    {"upstreams.*.health_check", "{path: /healthz}"},
    {"upstreams.*.health_check.path", "/healthz"},
    {"jwt_providers",
     "idp: {algorithms: [RS256], jwks: {url: \"https://issuer.example/jwks.json\"}}"},
    {"jwt_providers.*", "{algorithms: [RS256], jwks: {url: \"https://issuer.example/jwks.json\"}}"},
    {"jwt_providers.*.algorithms", "[RS256]"},
    {"jwt_providers.*.jwks", "{url: \"https://issuer.example/jwks.json\"}"},
    {"jwt_providers.*.jwks.tls", tls_files},
    {"identities", "api_key: {header: x-api-key}"},
    {"identities.*", "{header: x-api-key}"},
    {"identities.*.jwt", claim},
    {"identities.*.jwt.provider", "NAME"},
    {"identities.*.jwt.claim", "sub"},
    {"address_lists", "office: [192.0.2.0/24]"},
    {"address_lists.*", "{file: NAME}"},
    {"address_lists.*.file", "office.txt"},
    {"policies", "per_client: {algorithm: gcra, rate: 10/s}"},
    {"policies.*", "{algorithm: gcra, rate: 10/s}"},
    {"plans", "gold: {POLICY: {rate: 100/s}}"},
    {"plans.*.*", "{rate: 100/s}"},
    {"plan_from[]", "{header: x-plan}"},
    {"plan_from[].jwt", claim},
    {"plan_from[].jwt.provider", "NAME"},
    {"plan_from[].jwt.claim", "plan"},
    {"routes", "`- upstream: NAME`"},
    {"routes[]", "{match: {path: /v1/**}, upstream: NAME}"},
    {"routes[].match", "{path: /v1/**}"},
    {"routes[].match.headers", "{x-beta: \"1\"}"},
    {"routes[].respond", "{status: 200, body: fine}"},
    {"routes[].respond.headers", "{location: \"https://example.com/\"}"},
    {"routes[].request_headers", "{set: {x-tenant: acme}, remove: [x-debug]}"},
    {"routes[].response_headers", "{set: {x-frame-options: DENY}, remove: [server]}"},
    {"routes[].limits[]", "{policy: NAME, key: client}"},
    {"routes[].limits[].charge", "{status: [401, 403]}"},
    {"routes[].limits[].charge.status", "[401, 403]"},
    {"routes[].limits[].charge.status_not", "[500-599]"},
    {"routes[].limits[].reserve", "{json: /max_tokens, default: 2000}"},
    {"routes[].limits[].reserve.json", "/max_tokens"},
    {"routes[].limits[].cost_from", "[{json: /usage/total_tokens}]"},
    {"routes[].limits[].cost_from[]", "{json: /usage/total_tokens}"},
    {"routes[].limits[].cost_from[].json", "/usage/total_tokens"},
    {"routes[].limits[].policy", "NAME"},
    {"routes[].limits[].when", some_condition},
    {"routes[].limits[].unless", some_condition},
};

constexpr Example texts[] = {
    {"policies.*.rate",
     "; write one value, such as rate: 100/1m, or several as rates: [10/1s, 100/1m]"},
    {"policies.*.headers", "; write false, or a map such as {access-control-allow-origin: \"*\"}"},
    {"policies.*.body", "; write a text, or a map such as {text/html: TEXT}"},
    {"denied.body", "; write a text, or a map such as {text/html: TEXT}"},
    {"policies.*.headers.set", "; write headers: {NAME: VALUE}, without set"},
    {"policies.*.headers.add", "; write headers: {NAME: VALUE}, without add"},
    {"routes[].respond.body", "; put quotes around JSON: '{\"error\": \"x\"}'"},
    {"denied.headers.set", "; write headers: {NAME: VALUE}, without set"},
    {"denied.headers.add", "; write headers: {NAME: VALUE}, without add"},
    {"routes[].respond.headers.set", "; write headers: {NAME: VALUE}, without set"},
    {"routes[].limits[].policy", "; define it under policies, and write its name here"},
    {"routes[].limits[].key", "; define it under identities, and write its name here"},
    {"routes[].limits[].otherwise", "; define it under identities, and write its name here"},
    {"routes[].upstream", "; define it under upstreams, and write its name here"},
    {"routes[].match.path", "; write a route for each of several patterns"},
    {"routes[].match.host", "; write a route for each of several hosts"},
    {"routes[].match.address", "; define a list under address_lists, and write its name here"},
    {"upstreams.*.servers[].url", "; put quotes around text with braces"},
};

template <class Rows>
auto find_shape(const Rows& rows, std::string_view shape) {
  return std::ranges::find_if(rows, [&](const auto& row) { return row.shape == shape; });
}

}  // namespace

std::string_view example_of(std::string_view shape) {
  // Combinations of identities can be nested.
  if (shape.starts_with("identities.") && shape.ends_with("[]")) shape = "identities.*";
  const auto* const found = find_shape(examples, shape);
  return found == std::end(examples) ? std::string_view() : found->value;
}

std::string_view text_advice(std::string_view shape) {
  const auto* const found = find_shape(texts, shape);
  return found == std::end(texts) ? std::string_view() : found->value;
}

}  // namespace weir::config
