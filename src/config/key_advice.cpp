#include "config/key_advice.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace weir::config {
namespace {

struct Advice {
  std::string_view map;  ///< the shape of the map; "*": any
  std::string_view key;  ///< "*": any
  std::string_view text;
};

constexpr std::string_view condition =
    "conditions of a route are keys of match, as in match: {path: /v1/**, methods: [GET]}";
constexpr std::string_view numbers_of_policy =
    "define a policy, as in policies: {NAME: {algorithm: gcra, rate: 10/s}}, and name it in "
    "limits: [{policy: NAME}]";
constexpr std::string_view one_rate = "write count and time as one value, as in rate: 100/1m";
constexpr std::string_view one_server = "write servers: [{url: \"http://127.0.0.1:3000\"}]";
constexpr std::string_view one_upstream = "write upstream: NAME, with NAME from upstreams";
constexpr std::string_view part_of_url =
    "it is a part of url: redis://USER:PASSWORD@HOST:PORT/DATABASE";
constexpr std::string_view http_1_only =
    "Weir speaks HTTP/1.1 on both sides; a proxy before it can speak HTTP/2 (docs/deploy.md)";
constexpr std::string_view other_work =
    "Weir does not do this; leave it to the service or to a proxy before Weir (docs/deploy.md)";
constexpr std::string_view rewriting =
    "write strip_prefix: /PREFIX in a route, or path: /NEW/{name} with named segments of "
    "match.path";
constexpr std::string_view field_changes =
    "write request_headers or response_headers: {set: {NAME: VALUE}} in a route";
constexpr std::string_view field_changes_of_route =
    "fields are changed by a route: routes: [{request_headers: {set: {NAME: VALUE}}}], or "
    "response_headers";
constexpr std::string_view edits_of_fields =
    "write set: {NAME: VALUE}, add: {NAME: VALUE} or remove: [NAME]";
constexpr std::string_view denial_of_policy =
    "write status, content_type, body and headers in the policy, or in the section denied for all "
    "policies";
constexpr std::string_view preflight_of_policy =
    "write charge_preflight: true in a policy to charge preflight requests";
constexpr std::string_view no_scripts =
    "Weir has no scripts and no plugins; use a proxy before Weir for them (docs/deploy.md)";
constexpr std::string_view parts_by_weight =
    "write weights of the servers, as in servers: [{url: URL, weight: 9}, {url: URL, weight: 1}]; "
    "to divide clients instead of requests use a proxy before Weir (docs/deploy.md)";
constexpr std::string_view no_switch = "WebSocket needs no switch; remove the key";
constexpr std::string_view not_supported = "it is not supported yet; remove it";
constexpr std::string_view listeners = "write listen: [{address: \"0.0.0.0:8080\"}]";

constexpr Advice advices[] = {
    // Numbers and conditions that are one level too high or too low.
    {"routes[]", "rate", numbers_of_policy},
    {"routes[]", "rates", numbers_of_policy},
    {"routes[]", "burst", numbers_of_policy},
    {"routes[]", "algorithm", numbers_of_policy},
    {"routes[]", "rate_limit", numbers_of_policy},
    {"routes[]", "policy", "write limits: [{policy: NAME}]"},
    {"routes[]", "key", "write limits: [{policy: NAME, key: IDENTITY}]"},
    {"routes[].limits[]", "rate", numbers_of_policy},
    {"routes[].limits[]", "rates", numbers_of_policy},
    {"routes[].limits[]", "burst", numbers_of_policy},
    {"routes[].limits[]", "algorithm", numbers_of_policy},
    {"routes[]", "host", condition},
    {"routes[]", "method", condition},
    {"routes[]", "methods", condition},
    {"routes[]", "headers",
     "to change fields write request_headers or response_headers: {set: {NAME: VALUE}}; conditions "
     "of a route are keys of match"},
    {"routes[]", "denied", denial_of_policy},
    {"routes[].limits[]", "denied", denial_of_policy},
    {"routes[].limits[]", "status", denial_of_policy},
    {"routes[].limits[]", "body", denial_of_policy},
    {"routes[].request_headers", "*", edits_of_fields},
    {"routes[].response_headers", "*", edits_of_fields},
    {"routes[].respond", "location", "write headers: {location: URL}"},
    {"routes[]", "address", condition},
    {"routes[].match", "query", "a route cannot match the query; identities can read parameters"},
    {"routes[].match", "prefix", "write path: /PREFIX/**"},
    {"routes[].match", "paths", "write path: PATTERN, and a route for each of several patterns"},
    {"routes[].match", "hosts", "write host: NAME, and a route for each of several hosts"},
    {"routes[].limits[]", "identity", "it is called key here; did you mean \"key\"?"},
    {"policies.*", "key", "the key belongs to a route: limits: [{policy: NAME, key: IDENTITY}]"},
    {"policies.*", "identity",
     "the key belongs to a route: limits: [{policy: NAME, key: IDENTITY}]"},
    {"plans.*.*", "algorithm", "a plan changes numbers; the algorithm is that of the policy"},
    {"plans.*.*", "max_wait", "a plan changes numbers; write queue and max_wait in the policy"},
    // Other spellings of a rate.
    {"policies.*", "window", one_rate},
    {"policies.*", "period", one_rate},
    {"policies.*", "interval", one_rate},
    {"policies.*", "requests", one_rate},
    {"policies.*", "per", one_rate},
    {"policies.*", "count", one_rate},
    {"policies.*", "quota", one_rate},
    {"policies.*", "average", one_rate},
    {"policies.*", "requests_per_second", "write rate: 10/s"},
    // Sections.
    {"", "limits", "limits belong to a route: routes: [{upstream: NAME, limits: [...]}]"},
    {"", "rate", numbers_of_policy},
    {"", "rate_limit", numbers_of_policy},
    {"", "policy", "did you mean \"policies\"?"},
    {"", "plan", "did you mean \"plans\"?"},
    {"", "identity", "did you mean \"identities\"?"},
    {"", "port", listeners},
    {"", "address", listeners},
    {"", "server", "write listen for the address of Weir, or upstreams for the service"},
    {"", "servers", "servers belong to an upstream: upstreams: {NAME: {servers: [{url: URL}]}}"},
    {"", "backend", "did you mean \"upstreams\"?"},
    {"", "backends", "did you mean \"upstreams\"?"},
    {"", "redis", "write store: {type: redis, redis: {url: \"redis://127.0.0.1:6379\"}}"},
    {"", "tls", "tls belongs to a listener: listen: [{address: \"0.0.0.0:443\", tls: {...}}]"},
    {"", "log", "did you mean \"access_log\"?"},
    {"", "logging", "did you mean \"access_log\"?"},
    {"", "metrics", "metrics are served at admin.address: admin: {address: \"127.0.0.1:9090\"}"},
    {"", "trusted_proxies", "write client_address: {trusted_proxies: [10.0.0.0/8]}"},
    {"", "jwt", "write jwt_providers: {NAME: {algorithms: [RS256], jwks: {url: URL}}}"},
    {"", "overrides",
     "remove it: overrides are set in a running Weir, see `weir limits override --help`"},
    {"", "request_headers", field_changes_of_route},
    {"response_headers", "set", field_changes_of_route},
    {"response_headers", "add", field_changes_of_route},
    {"response_headers", "remove", field_changes_of_route},
    {"policies.*", "preflight", preflight_of_policy},
    {"denied", "charge_preflight", preflight_of_policy},
    {"denied", "preflight", preflight_of_policy},
    {"denied", "retry_after", "write retry_after: seconds or http_date at the top level"},
    {"", "events", not_supported},
    {"", "tracing", not_supported},
    {"policies.*", "max_in_flight", "write algorithm: concurrency and limit: 20"},
    {"policies.*", "max_connections", "write algorithm: concurrency and limit: 20"},
    {"policies.*", "lease", not_supported},
    {"store.redis", "leases", not_supported},
    {"store.redis", "sentinel_password", not_supported},
    // The service and the store.
    {"routes[]", "to", one_upstream},
    {"routes[]", "url", one_upstream},
    {"routes[]", "proxy_pass", one_upstream},
    {"routes[]", "backend", one_upstream},
    {"routes[]", "service", one_upstream},
    {"routes[]", "target", one_upstream},
    {"upstreams.*", "url", one_server},
    {"upstreams.*", "urls", one_server},
    {"upstreams.*", "server", one_server},
    {"upstreams.*", "address", one_server},
    {"upstreams.*", "host", one_server},
    {"upstreams.*", "port", one_server},
    {"upstreams.*", "timeout", "write connect_timeout, response_timeout or idle_timeout"},
    {"upstreams.*.servers[]", "host", "write url: http://HOST:PORT"},
    {"upstreams.*.servers[]", "port", "write url: http://HOST:PORT"},
    {"upstreams.*.servers[]", "address", "write url: http://HOST:PORT"},
    {"store", "url", "it belongs under redis: redis: {url: \"redis://127.0.0.1:6379\"}"},
    {"store", "servers", "it belongs under redis: redis: {servers: [...]}"},
    {"store", "max_keys", "it belongs under memory: memory: {max_keys: 1000000}"},
    {"store.redis", "host", part_of_url},
    {"store.redis", "address", part_of_url},
    {"store.redis", "port", part_of_url},
    {"store.redis", "user", part_of_url},
    {"store.redis", "username", part_of_url},
    {"store.redis", "password", part_of_url},
    {"store.redis", "db", part_of_url},
    {"store.redis", "database", part_of_url},
    {"listen[]", "port", listeners},
    {"listen[]", "host", listeners},
    {"listen[].tls", "cert", "did you mean \"certificate\"?"},
    {"listen[].tls", "crt", "did you mean \"certificate\"?"},
    {"listen[].tls", "cert_file", "did you mean \"certificate\"?"},
    {"listen[].tls", "key", "did you mean \"private_key\"?"},
    {"listen[].tls", "key_file", "did you mean \"private_key\"?"},
    {"listen[].tls", "ssl_certificate_key", "did you mean \"private_key\"?"},
    // Wishes.
    {"*", "http2", http_1_only},
    {"*", "http3", http_1_only},
    {"*", "h2", http_1_only},
    {"*", "h2c", http_1_only},
    {"*", "grpc", http_1_only},
    {"*", "alpn", http_1_only},
    {"*", "protocol", http_1_only},
    {"*", "websocket", no_switch},
    {"*", "websockets", no_switch},
    {"*", "gzip", other_work},
    {"*", "compress", other_work},
    {"*", "compression", other_work},
    {"*", "cache", other_work},
    {"policies.*", "response_headers", "write headers: {NAME: VALUE}"},
    {"policies.*", "add_headers", "write headers: {NAME: VALUE}"},
    {"policies.*", "message", "write body: TEXT"},
    {"policies.*", "response", "write status, content_type, body and headers beside the rate"},
    {"policies.*", "denied", "write status, content_type, body and headers beside the rate"},
    {"policies.*", "bodies", "write body: {MEDIA_TYPE: TEXT}"},
    {"*", "cors", other_work},
    {"*", "auth", other_work},
    {"*", "basic_auth", other_work},
    {"*", "rewrite", rewriting},
    {"*", "rewrite_path", rewriting},
    {"*", "replace_path", rewriting},
    {"*", "stripPrefix", rewriting},
    {"*", "strip_path", rewriting},
    {"*", "redirect", "write respond: {status: 308, headers: {location: URL}} in a route"},
    {"*", "add_header", field_changes},
    {"*", "add_headers", field_changes},
    {"*", "proxy_set_header", field_changes},
    {"*", "set_headers", field_changes},
    {"*", "lua", no_scripts},
    {"*", "script", no_scripts},
    {"*", "wasm", no_scripts},
    {"*", "plugins", no_scripts},
    {"*", "middlewares", no_scripts},
    {"*", "root", other_work},
    {"*", "static", other_work},
    {"*", "mirror", other_work},
    {"*", "canary", parts_by_weight},
};

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

/// Sections whose entries have names that the operator chose.
constexpr std::string_view named_sections[] = {"upstreams",     "jwt_providers", "identities",
                                               "address_lists", "policies",      "plans"};

template <class Rows>
auto find_shape(const Rows& rows, std::string_view shape) {
  return std::ranges::find_if(rows, [&](const auto& row) { return row.shape == shape; });
}

/// Removes the next part of a path: a name, a name in quotes, or an index.
std::string_view take_part(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  std::size_t end = 0;
  if (path.starts_with('"')) {
    end = std::min(path.find('"', 1), path.size() - 1) + 1;
  } else if (path.starts_with('[')) {
    end = std::min(path.find(']'), path.size() - 1) + 1;
  } else {
    end = std::min(path.find_first_of(".["), path.size());
  }
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(end);
  return part;
}

}  // namespace

std::string shape_of(std::string_view path) {
  std::string shape(take_part(path));
  bool is_named = std::ranges::find(named_sections, shape) != std::end(named_sections);
  const std::size_t names = !is_named ? 0 : shape == "plans" ? 2 : 1;
  for (std::size_t depth = 0; !path.empty(); ++depth) {
    const std::string_view part = take_part(path);
    if (part.starts_with('[')) {
      shape += "[]";
    } else {
      (shape += '.') += depth < names ? "*" : part;
    }
  }
  return shape;
}

std::string key_advice(std::string_view map_shape, std::string_view key) {
  const auto found = std::ranges::find_if(advices, [&](const Advice& one) {
    return (one.key == "*" || one.key == key) && (one.map == "*" || one.map == map_shape);
  });
  return found == std::end(advices) ? std::string() : "; " + std::string(found->text);
}

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
