#include "config/hints.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/ip_address.hpp"
#include "config/endpoint.hpp"
#include "config/suggest.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::config {
namespace {

constexpr auto npos = std::string_view::npos;

struct KeyHint {
  std::string_view map;   ///< its shape; "*": any of a configuration
  std::string_view keys;  ///< separated by spaces
  std::string_view fix;
};

/// The first row counts. Only keys that a map does not have are looked up.
constexpr KeyHint key_hints[] = {
    // Rates and policies.
    {"plans.*.*", "algorithm max_wait", "a plan changes numbers; write it in the policy"},
    {"policies.*", "window period interval requests per count average",
     "write count and time as one value, as in rate: 100/1m"},
    {"policies.*", "key identity",
     "the key belongs to a route: limits: [{policy: NAME, key: IDENTITY}]"},
    {"policies.*", "max_in_flight max_connections", "write algorithm: concurrency and limit: 20"},
    {"policies.*", "response_headers add_headers", "write headers: {NAME: VALUE}"},
    {"policies.*", "message response denied", "write status, content_type, body and headers"},
    {"*", "denied limit_req_status limit_conn_status",
     "write status, content_type, body and headers in the policy, or in the section denied for "
     "all policies"},
    {"*", "rate rates burst algorithm rate_limit limit_req limit_req_zone",
     "define a policy, as in policies: {NAME: {algorithm: gcra, rate: 10/s, burst: 20}}, and name "
     "it in limits: [{policy: NAME}]"},
    {"*", "limit_conn limit_conn_zone",
     "define a policy, as in policies: {NAME: {algorithm: concurrency, limit: 20}}, and name it in "
     "limits: [{policy: NAME}]"},
    {"*", "dry_run shadow shadow_mode", "write mode: shadow in the policy"},
    {"", "limits", "limits belong to a route: routes: [{upstream: NAME, limits: [...]}]"},
    {"routes[]", "policy key", "write limits: [{policy: NAME, key: IDENTITY}]"},
    {"routes[].limits[]", "identity", "it is called key here"},
    // Routes.
    {"routes[]", "host method methods headers address location path_prefix prefix server_name rule",
     "conditions of a route are keys of match, as in match: {host: api.example.com, path: /v1/**, "
     "methods: [GET]}"},
    {"routes[].match", "prefix path_prefix location", "write path: /PREFIX/**"},
    {"routes[]", "url to proxy_pass backend service target",
     "write upstream: NAME, with NAME from upstreams"},
    {"*", "whitelist allowlist allow",
     "write address_lists: {NAME: [192.0.2.0/24]}, and unless: {address: NAME} in a limit, or "
     "match: {address: NAME} in a route"},
    {"*", "blacklist denylist deny",
     "write address_lists: {NAME: [192.0.2.0/24]}, and as the first route {match: {address: NAME}, "
     "respond: {status: 403}}"},
    {"*", "rewrite rewrite_path replace_path strip_path",
     "write strip_prefix: /PREFIX in a route, or path: /NEW/{name} with named segments of "
     "match.path"},
    {"routes[].respond", "location redirect", "write headers: {location: URL}"},
    {"*", "redirect", "write respond: {status: 308, headers: {location: URL}} in a route"},
    {"*", "request_headers add_header add_headers set_headers proxy_set_header",
     "write request_headers or response_headers: {set: {NAME: VALUE}} in a route"},
    {"response_headers", "set add remove",
     "fields are changed by a route: routes: [{response_headers: {set: {NAME: VALUE}}}]"},
    // Servers and listeners.
    {"", "port address", "write listen: [{address: \"0.0.0.0:8080\"}]"},
    {"", "server servers backend backends",
     "write listen for the address of Weir, or upstreams for the service"},
    {"listen[]", "port host", "write address: 0.0.0.0:8080"},
    {"", "tls", "tls belongs to a listener: listen: [{address: \"0.0.0.0:443\", tls: {...}}]"},
    {"listen[].tls", "cert crt cert_file", "did you mean \"certificate\"?"},
    {"listen[].tls", "key key_file ssl_certificate_key", "did you mean \"private_key\"?"},
    {"upstreams.*", "url urls server address host port",
     "write servers: [{url: \"http://127.0.0.1:3000\"}]"},
    {"upstreams.*.servers[]", "host port address", "write url: http://HOST:PORT"},
    {"*", "timeout",
     "write connect_timeout, response_timeout or idle_timeout in an upstream; those for clients "
     "are head_timeout, body_timeout and idle_timeout in downstream"},
    {"*", "lb_policy load_balancing", "write balance: least_connections in an upstream"},
    {"*", "http2 http3 grpc protocol",
     "write protocol: http2 in an upstream; clients choose HTTP/2 by themselves, and a listener "
     "may "
     "have http2: false"},
    {"*", "websocket websockets", "WebSocket needs no switch; remove the key"},
    // The process and the store.
    {"", "trusted_proxies", "write client_address: {trusted_proxies: [10.0.0.0/8]}"},
    {"*", "set_real_ip_from real_ip_header num_trusted_hops xff_num_trusted_hops",
     "proxies are trusted by address: write client_address: {trusted_proxies: [10.0.0.0/8]}"},
    {"*", "client_max_body_size", "write downstream: {max_body: 1MiB}"},
    {"*", "worker_processes", "write workers: auto, or the number of threads"},
    {"", "log logging error_log",
     "requests are logged by access_log: {path: FILE}; messages go to standard error"},
    {"", "metrics", "metrics are served at admin.address: admin: {address: \"127.0.0.1:9090\"}"},
    {"", "redis", "write store: {type: redis, redis: {url: \"redis://127.0.0.1:6379\"}}"},
    {"store", "url servers", "it belongs under redis: redis: {url: \"redis://127.0.0.1:6379\"}"},
    {"store", "max_keys", "it belongs under memory: memory: {max_keys: 1000000}"},
    {"store.redis", "host address port user username password db database",
     "it is a part of url: redis://USER:PASSWORD@HOST:PORT/DATABASE"},
    {"", "jwt", "write jwt_providers: {NAME: {algorithms: [RS256], jwks: {url: URL}}}"},
    {"", "overrides",
     "remove it: overrides are set in a running Weir, see `weir limits override --help`"},
    // What Weir does not do.
    {"*",
     "gzip compress compression cache cors auth basic_auth mirror canary static lua script wasm "
     "plugins middlewares",
     "Weir does not do this; leave it to the service or to a proxy before Weir (docs/deploy.md)"},
    {"*", "<<", "merge keys are not part of YAML 1.2, use an alias for the whole value"},
    // Scenarios.
    {"test:", "time now clock", "write start: 2026-01-01T00:00:00Z"},
    {"test:", "configuration file weir", "did you mean \"config\"?"},
    {"test:", "requests tests scenarios cases", "write steps: [{request: {...}, expect: {...}}]"},
    {"test:", "env environment", "write variables: {NAME: VALUE}"},
    {"test:steps[]", "time after when", "did you mean \"at\"?"},
    {"test:steps[]", "times count", "did you mean \"repeat\"?"},
    {"test:steps[]", "interval", "did you mean \"every\"?"},
    {"test:steps[]", "url method headers peer body claims",
     "it belongs to request: request: {url: \"http://api.example.com/\"}"},
    {"test:steps[]", "status policy retry_after remaining charged",
     "write expect: {status: 429}, or response: {status: 200} for what the upstream answers"},
    {"test:steps[].request", "path uri target",
     "write the whole URL: url: \"http://api.example.com/path\""},
    {"test:steps[].request", "host", "it is a part of url, or headers: {host: NAME}"},
    {"test:steps[].request", "json", "write body: a map or a list is sent as JSON"},
    {"test:steps[].request", "address ip client from client_address",
     "write peer: 192.0.2.7, and headers: {x-forwarded-for: ADDRESS} for a client behind a "
     "trusted proxy"},
    {"test:steps[].request", "token jwt",
     "write headers: {authorization: \"Bearer TOKEN\"}, or "
     "claims: {PROVIDER: {sub: alice}}"},
    {"test:steps[].response", "delay duration takes", "did you mean \"after\"?"},
    {"test:steps[].response", "usage", "write json: {usage: {...}}, as the upstream states it"},
    {"test:steps[].expect", "allowed denied", "write decision: allowed, or decision: denied"},
    {"test:steps[].expect", "cost units", "write charged: {POLICY: UNITS}"},
    {"test:steps[].expect", "limit reset", "write headers: {ratelimit-limit: \"20\"}"},
};

struct Example {
  std::string_view shape;
  std::string_view value;
};

constexpr Example examples[] = {
    {"", "routes: [{respond: {status: 200}}]"},
    {"listen[]", "{address: \"0.0.0.0:8080\"}"},
    {"listen[].tls", "{certificate: tls.crt, private_key: tls.key}"},
    {"store", "{type: redis, redis: {url: \"redis://127.0.0.1:6379\"}}"},
    {"store.redis", "{url: \"redis://127.0.0.1:6379\"}"},
    {"upstreams", "api: {servers: [{url: \"http://127.0.0.1:3000\"}]}"},
    {"upstreams.*", "{servers: [{url: \"http://127.0.0.1:3000\"}]}"},
    {"upstreams.*.servers", "[{url: \"http://127.0.0.1:3000\"}]"},
    {"upstreams.*.servers[]", "{url: \"http://127.0.0.1:3000\"}"},
    {"jwt_providers",
     "idp: {algorithms: [RS256], jwks: {url: \"https://issuer.example/jwks.json\"}}"},
    {"jwt_providers.*", "{algorithms: [RS256], jwks: {url: \"https://issuer.example/jwks.json\"}}"},
    {"jwt_providers.*.algorithms", "[RS256]"},
    {"jwt_providers.*.jwks", "{url: \"https://issuer.example/jwks.json\"}"},
    {"identities", "api_key: {header: x-api-key}"},
    {"identities.*", "{header: x-api-key}"},
    {"identities.*.jwt", "{provider: NAME, claim: sub}"},
    {"address_lists", "office: [192.0.2.0/24]"},
    {"policies", "per_client: {algorithm: gcra, rate: 10/s}"},
    {"policies.*", "{algorithm: gcra, rate: 10/s}"},
    {"policies.*.rate", "100/1m"},
    {"plans", "gold: {POLICY: {rate: 100/s}}"},
    {"routes", "[{upstream: NAME}]"},
    {"routes[]", "{match: {path: /v1/**}, upstream: NAME}"},
    {"routes[].match", "{path: /v1/**}"},
    {"routes[].respond", "{status: 200, body: fine}"},
    {"routes[].limits[]", "{policy: NAME, key: client}"},
    {"routes[].limits[].policy", "NAME, which policies defines"},
    {"routes[].limits[].charge", "{status: [401, 403]}"},
    {"test:", "{config: weir.yaml, steps: [...]}"},
    {"test:config", "weir.yaml"},
    {"test:steps", "[{request: {url: \"http://api.example.com/\"}, expect: {status: 200}}]"},
    {"test:steps[]", "{request: {url: \"http://api.example.com/\"}, expect: {status: 200}}"},
    {"test:steps[].request", "{url: \"http://api.example.com/\"}"},
    {"test:steps[].request.url", "\"http://api.example.com/\""},
    {"test:steps[].response", "{status: 200}"},
    {"test:steps[].expect", "{status: 200}"},
    {"test:steps[].expect.charged", "{POLICY: 1}"},
};

/// A word of Weir, and what others write for it, in lower case.
struct Synonyms {
  std::string_view meant;
  std::string_view written;  ///< separated by spaces
};

constexpr Synonyms words[] = {
    {"true", "yes on 1"},
    {"false", "no off 0"},
    {"shadow", "dry_run dryrun monitor log"},
    {"allow", "open fail_open"},
    {"deny", "closed close fail_closed"},
    {"least_connections", "least_conn leastconn"},
    {"1.2", "tlsv1.2 tls1.2"},
    {"1.3", "tlsv1.3 tls1.3"},
    {"concurrency", "max_connections in_flight"},
    {"client", "ip client_ip remote_addr $remote_addr $binary_remote_addr client_address"},
};
constexpr Synonyms times[] = {
    {"ms", "ms msec milliseconds"},
    {"s", "s sec secs second seconds"},
    {"m", "m min mins minute minutes"},
    {"h", "h hr hrs hour hours"},
    {"d", "d day days"},
    {"7d", "w week weeks"},
    {"30d", "month months"},
};
constexpr Synonyms sizes[] = {
    {"B", "b bytes"}, {"KiB", "k kb kib"}, {"MiB", "m mb mib"}, {"GiB", "g gb gib"}};

struct Section {
  std::string_view name;
  std::string_view entry;  ///< what messages call one of its entries
};

constexpr Section sections[] = {
    {"policies", "policy"},     {"upstreams", "upstream"},
    {"identities", "identity"}, {"address_lists", "address list"},
    {"plans", "plan"},          {"jwt_providers", "JWT provider"},
};

bool lists(std::string_view all, std::string_view one) {
  return std::ranges::any_of(std::views::split(all, ' '), [one](const auto& part) {
    return std::string_view(part.begin(), part.end()) == one;
  });
}

/// The word that `written` is a synonym of; empty if there is none.
std::string_view meaning_of(std::string_view written, std::span<const Synonyms> of) {
  const auto found =
      std::ranges::find_if(of, [&](const auto& row) { return lists(row.written, written); });
  return found == of.end() ? std::string_view() : found->meant;
}

std::string_view leading_digits(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

/// The name of a variable of a shell after the dollar: in upper case only.
std::string_view shell_name(std::string_view text) {
  const std::string_view name = leading_word(text.substr(1));
  const bool is_upper = std::ranges::all_of(name, [](char c) { return c == http::to_upper(c); });
  return is_upper && !name.empty() && http::is_alpha(name.front()) ? name : std::string_view();
}

/// In lower case, without blanks and separators: `10r/s` of "10 r/s".
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '_' && c != ',') out += http::to_lower(c);
  }
  return out;
}

/// The number with the unit that its word means; `bare` is the unit of a number alone.
std::string with_unit(std::string_view written, std::span<const Synonyms> units,
                      std::string_view bare) {
  const std::string text = plain(written);
  const std::string_view digits = leading_digits(text);
  const std::string_view rest = std::string_view(text).substr(digits.size());
  const std::string_view unit = rest.empty() ? bare : meaning_of(rest, units);
  const bool is_unit = !unit.empty() && !http::is_digit(unit.front());
  return digits.empty() || !is_unit ? std::string() : std::string(digits).append(unit);
}

}  // namespace

std::string_view leading_word(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(
      text, [](char c) { return http::is_alpha(c) || http::is_digit(c) || c == '_'; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string did_you_mean(std::string_view text) {
  return text.empty() ? std::string() : "; did you mean " + in_quotes(text) + "?";
}

std::string key_hint(std::string_view map_shape, std::string_view key) {
  const bool is_configuration = map_shape.find(':') == npos;
  const auto* const found = std::ranges::find_if(key_hints, [&](const KeyHint& one) {
    const bool fits = one.map == "*" ? is_configuration || key == "<<" : one.map == map_shape;
    return fits && lists(one.keys, key);
  });
  return found == std::end(key_hints) ? std::string() : "; " + std::string(found->fix);
}

std::string all_keys_hint(std::string_view kind) {
  return kind == "test" ? "; docs/testing-limits.md has all keys"
                        : "; config/reference.yaml has all keys";
}

std::string_view example_of(std::string_view shape) {
  // Combinations of identities can be nested.
  if (shape.starts_with("identities.") && shape.ends_with("[]")) shape = "identities.*";
  const auto* const found = std::ranges::find(examples, shape, &Example::shape);
  return found == std::end(examples) ? std::string_view() : found->value;
}

std::string word_hint(std::string_view written, std::span<const std::string_view> known) {
  std::string word(written);
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c == '-' || c == ' ' ? '_' : http::to_lower(c); });
  if (std::ranges::find(known, word) != known.end()) return did_you_mean(word);
  const std::string_view meant = meaning_of(word, words);
  if (std::ranges::find(known, meant) != known.end()) return did_you_mean(meant);
  return did_you_mean(closest(written, known));
}

std::string definition_hint(std::string_view what, std::string_view written, bool none_is_defined) {
  const bool is_name = written.find_first_of(":/= ") == npos;
  if (is_name && !none_is_defined) return {};
  const auto* const section = std::ranges::find(sections, what, &Section::entry);
  if (section == std::end(sections)) return {};
  return std::string(none_is_defined ? "; none is defined" : "") + "; write " +
         std::string(section->name) + ": {" + std::string(example_of(section->name)) +
         "}, and its name here";
}

std::string colon_hint(std::string_view written) {
  const std::string_view name = leading_word(written);
  const std::string_view rest = written.substr(name.size());
  const bool lacks_space = rest.size() > 1 && (rest[0] == ':' || rest[0] == '=') &&
                           !rest.starts_with("://") && !name.empty();
  if (!lacks_space) return {};
  return "; write a colon and a space: " + std::string(name) + ": VALUE";
}

bool is_shell_variable(std::string_view written) {
  return written.starts_with('$') && !shell_name(written).empty() &&
         shell_name(written).size() + 1 == written.size();
}

std::string variable_hint(std::string_view written) {
  for (std::size_t at = written.find('$'); at != npos; at = written.find('$', at + 1)) {
    if (!shell_name(written.substr(at)).empty())
      return "; for an environment variable write ${NAME}";
  }
  return {};
}

std::string prefix_hint(std::string_view written) {
  const std::size_t slash = written.find('/');
  const auto address = IpAddress::parse(written.substr(0, slash));
  if (!address || slash == npos) return variable_hint(written);
  const auto length = parse_integer(written.substr(slash + 1));
  if (!length || *length < 0 || *length > (address->is_v4() ? 32 : 128)) return {};
  const int bits = static_cast<int>(*length);
  return did_you_mean(address->masked(bits, bits).to_string() + '/' + std::to_string(bits));
}

std::string endpoint_hint(std::string_view written) {
  const std::size_t colon = written.rfind(':');
  const std::string_view host = colon == npos ? "" : written.substr(0, colon);
  const std::string meant = "0.0.0.0:" + std::string(written.substr(colon + 1));
  const bool is_port = (host.empty() || host == "*") && parse_endpoint(meant);
  return is_port ? did_you_mean(meant) : variable_hint(written);
}

std::string rate_hint(std::string_view written) {
  const std::string text = plain(written);
  const std::string_view digits = leading_digits(text);
  std::string_view rest = std::string_view(text).substr(digits.size());
  for (const std::string_view noun : {"requests", "request", "reqs", "req", "r"}) {
    if (rest.starts_with(noun)) rest.remove_prefix(noun.size());
  }
  for (const std::string_view divider : {"/", "per"}) {
    if (!rest.starts_with(divider)) continue;
    std::string_view time = rest.substr(divider.size());
    if (const std::string_view unit = meaning_of(time, times); !unit.empty()) time = unit;
    const std::string rate = std::string(digits).append("/").append(time);
    return parse_rate(rate) ? did_you_mean(rate) : std::string();
  }
  return {};
}

std::string duration_hint(std::string_view written) {
  return duration_hint(written, Duration::max());
}

std::string duration_hint(std::string_view written, Duration most) {
  for (const std::string_view unit : {"s", "ms", "us"}) {
    const std::string duration = with_unit(written, times, unit);
    const auto value = parse_duration(duration);
    if (value && *value <= most) return did_you_mean(duration);
  }
  return {};
}

std::string size_hint(std::string_view written) {
  const std::string size = with_unit(written, sizes, {});
  return parse_size(size) ? did_you_mean(size) : std::string();
}

}  // namespace weir::config
