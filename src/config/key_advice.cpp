#include "config/key_advice.hpp"

#include <algorithm>
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
constexpr std::string_view burst_of_policy =
    "define a policy, as in policies: {NAME: {algorithm: gcra, rate: 10/s, burst: 20}}, and "
    "name it in limits: [{policy: NAME}]";
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

constexpr std::string_view slots_of_policy =
    "define a policy, as in policies: {NAME: {algorithm: concurrency, limit: 20}}, and name it in "
    "limits: [{policy: NAME}]";
constexpr std::string_view exempt_addresses =
    "write address_lists: {NAME: [192.0.2.0/24]}, and unless: {address: NAME} in a limit";
constexpr std::string_view denied_addresses =
    "write address_lists: {NAME: [192.0.2.0/24]}, and as the first route {match: {address: NAME}, "
    "respond: {status: 403}}";
constexpr std::string_view allowed_addresses =
    "write address_lists: {NAME: [192.0.2.0/24]} and match: {address: NAME}, and as the last route "
    "{respond: {status: 403}} for all others";
constexpr std::string_view host_of_route = "write match: {host: api.example.com} in a route";
constexpr std::string_view path_of_route = "write match: {path: /PREFIX/**} in a route";
constexpr std::string_view trusted_proxies =
    "proxies are trusted by address: write client_address: {trusted_proxies: [10.0.0.0/8]}";
constexpr std::string_view shadow_mode = "write mode: shadow in the policy";
constexpr std::string_view balance =
    "write balance: round_robin or balance: least_connections in an upstream";
constexpr std::string_view always_ejected =
    "remove it: a server that fails three times in a row is marked down; health_check: {path: "
    "/healthz} in the upstream finds failures earlier";
constexpr std::string_view timeouts_of_upstream =
    "write connect_timeout, response_timeout or idle_timeout in an upstream; those for clients are "
    "head_timeout, body_timeout and idle_timeout in downstream";
constexpr std::string_view timeouts_of_clients =
    "write downstream: {head_timeout: 10s, body_timeout: 60s, idle_timeout: 75s}";
constexpr std::string_view algorithm_is_value =
    "write it as a value, with the numbers beside it, as in {algorithm: token_bucket, rate: "
    "100/1m}";

constexpr Advice advices[] = {
    // Numbers and conditions that are one level too high or too low.
    {"routes[]", "rate", numbers_of_policy},
    {"routes[]", "rates", numbers_of_policy},
    {"routes[]", "burst", burst_of_policy},
    {"routes[]", "algorithm", numbers_of_policy},
    {"routes[]", "rate_limit", numbers_of_policy},
    {"routes[]", "policy", "write limits: [{policy: NAME}]"},
    {"routes[]", "key", "write limits: [{policy: NAME, key: IDENTITY}]"},
    {"routes[].limits[]", "rate", numbers_of_policy},
    {"routes[].limits[]", "rates", numbers_of_policy},
    {"routes[].limits[]", "burst", burst_of_policy},
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
    // Rates and policies of other programs.
    {"policies.*", "fixed_window", algorithm_is_value},
    {"policies.*", "attributed_window", algorithm_is_value},
    {"policies.*", "sliding_window", algorithm_is_value},
    {"policies.*", "sliding_log", algorithm_is_value},
    {"policies.*", "token_bucket", algorithm_is_value},
    {"policies.*", "leaky_bucket", algorithm_is_value},
    {"policies.*", "gcra", algorithm_is_value},
    {"policies.*", "concurrency",
     "write it as a value, with the number beside it: {algorithm: concurrency, limit: 20}"},
    {"*", "dry_run", shadow_mode},
    {"*", "shadow", shadow_mode},
    {"*", "shadow_mode", shadow_mode},
    {"*", "limit_req", numbers_of_policy},
    {"*", "limit_req_zone", numbers_of_policy},
    {"*", "limit_conn", slots_of_policy},
    {"*", "limit_conn_zone", slots_of_policy},
    {"*", "limit_req_status", denial_of_policy},
    {"*", "limit_conn_status", denial_of_policy},
    {"*", "nodelay",
     "remove it: gcra with burst admits a burst without delay, and only leaky_bucket delays"},
    {"*", "delay",
     "write a policy that delays, such as {algorithm: leaky_bucket, rate: 10/s, queue: 20, "
     "max_delay: 2s}"},
    {"*", "whitelist", exempt_addresses},
    {"*", "allowlist", exempt_addresses},
    {"*", "blacklist", denied_addresses},
    {"*", "denylist", denied_addresses},
    {"*", "deny", denied_addresses},
    {"*", "allow", allowed_addresses},
    // Conditions, servers and the process as in other programs.
    {"", "location", path_of_route},
    {"routes[]", "location", path_of_route},
    {"routes[].match", "location", path_of_route},
    {"routes[]", "path_prefix", path_of_route},
    {"routes[].match", "path_prefix", path_of_route},
    {"", "server_name", host_of_route},
    {"listen[]", "server_name", host_of_route},
    {"routes[]", "server_name", host_of_route},
    {"routes[].match", "server_name", host_of_route},
    {"routes[]", "rule", "write match: {host: api.example.com, path: /v1/**, methods: [GET]}"},
    {"routes[].match", "rule", "write host, path, methods, headers and address as keys of match"},
    {"*", "set_real_ip_from", trusted_proxies},
    {"*", "trusted_hops", trusted_proxies},
    {"*", "num_trusted_hops", trusted_proxies},
    {"*", "xff_num_trusted_hops", trusted_proxies},
    {"*", "real_ip_header", "write client_address: {header: x-forwarded-for}, and trusted_proxies"},
    {"*", "real_ip_recursive",
     "remove it: X-Forwarded-For is always read from right to left, over trusted_proxies"},
    {"*", "client_max_body_size", "write downstream: {max_body: 1MiB}"},
    {"*", "keepalive_timeout", "write downstream: {idle_timeout: 75s}"},
    {"*", "keepalive", "connections to servers are kept open; write idle_timeout in the upstream"},
    {"*", "lb_policy", balance},
    {"*", "load_balancing", balance},
    {"*", "least_conn", balance},
    {"*", "max_fails", always_ejected},
    {"*", "fail_timeout", always_ejected},
    {"*", "backup",
     "Weir has no backup servers; put a proxy between Weir and the servers (docs/deploy.md)"},
    {"", "timeout", timeouts_of_upstream},
    {"routes[]", "timeout", timeouts_of_upstream},
    {"upstreams.*.servers[]", "timeout", timeouts_of_upstream},
    {"listen[]", "timeout", timeouts_of_clients},
    {"downstream", "timeout", timeouts_of_clients},
    {"*", "worker_processes", "write workers: auto, or the number of threads"},
    {"*", "worker_connections", "write downstream: {max_connections: 10000}"},
    {"*", "error_log",
     "remove it: messages go to standard error; access_log: {path: FILE} is for requests"},
    {"*", "include",
     "a configuration is one file; a list of addresses can be in another one, as in address_lists: "
     "{NAME: {file: NAME}}, and plans as in plan_from: [{file: NAME, key: IDENTITY}]"},
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

/// Sections whose entries have names that the operator chose.
constexpr std::string_view named_sections[] = {"upstreams",     "jwt_providers", "identities",
                                               "address_lists", "policies",      "plans"};

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

}  // namespace weir::config
