// Every kind of bad input, with the position and the text of its message.
#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using test::problems_of;

struct Case {
  std::string yaml;
  std::string problem;  ///< the whole line, or its beginning
};

void check_all(const std::vector<Case>& cases, const std::string& tail = test::route_tail) {
  for (const auto& [yaml, problem] : cases) {
    const std::string found = problems_of(yaml + "\n" + tail);
    CAPTURE(yaml, found);
    CHECK(found.starts_with(problem));
    CHECK(std::count(found.begin(), found.end(), '\n') == 1);
  }
}

TEST_CASE("the file as a whole") {
  check_all(
      {{"", "the file is empty"},
       {"# nothing", "the file is empty"},
       {"just text",
        "1:1: expected a map of keys, such as routes: [{respond: {status: 200}}], found a single "
        "value"},
       {"[a]",
        "1:1: expected a map of keys, such as routes: [{respond: {status: 200}}], found a list"},
       {"workers: 1", "1:1: the key \"routes\" is missing"},
       {"routes:", "1:1: routes: has no value"},
       {"routes: []",
        "1:9: routes: expected a list of routes, such as `- upstream: NAME`, found an empty list"},
       {"routes: {}",
        "1:9: routes: expected a list of routes, such as `- upstream: NAME`, found a map; begin "
        "each of its entries with \"- \""},
       {"a: [", "1:4: not valid YAML: this [ is not closed"}},
      "");
}

TEST_CASE("keys of the file, listeners and the admin server") {
  check_all({
      {"lisen: x", "1:1: lisen: unknown key \"lisen\"; did you mean \"listen\"?"},
      {"\"a\\tb\": x", "1:1: \"a?b\": unknown key \"a?b\""},
      {"<<: {}", "1:1: <<: unknown key \"<<\"; merge keys"},
      {"listen: 127.0.0.1:8080",
       "1:9: listen: expected a list of listeners, such as `- address: 0.0.0.0:8080`"},
      {"listen: [8080]",
       "1:10: listen[0]: expected a map of keys, such as {address: \"0.0.0.0:8080\"}, found a "
       "single value"},
      {"listen: [{}]", "1:10: listen[0]: the key \"address\" is missing"},
      {"listen: [{adress: a:1}]",
       "1:11: listen[0].adress: unknown key \"adress\"; did you mean \"address\"?"},
      {"listen: [{address: \":80\"}]", "1:20: listen[0].address: expected HOST:PORT"},
      {"listen: [{address: a:1}, {address: a:1}]",
       "1:36: listen[1].address: another of the list has this address already"},
      {"listen: [{address: \"0.0.0.0:9090\"}]",
       "1:1: a listener has 127.0.0.1:9090, which is the default of admin; choose "
       "another for one of them, or write `admin: off`"},
      {"admin: {token: a}\nlisten: [{address: \"127.0.0.1:9090\"}]",
       "1:8: admin: a listener has 127.0.0.1:9090, which is the default of admin"},
      {"admin: {address: a:1}\nlisten: [{address: b:1}, {address: a:1}]",
       "1:18: admin.address: a listener has this address already; choose another"},
      {"listen: [{address: a:1, tls: on}]",
       "1:30: listen[0].tls: expected a map of keys, such as {certificate: tls.crt, "
       "private_key: tls.key}, found a single value"},
      {"listen: [{address: a:1, proxy_protocol: true}]",
       "1:41: listen[0].proxy_protocol: only trusted peers may connect, and there are none"},
      {"admin: on",
       "1:8: admin: expected a map, or off, such as {address: \"127.0.0.1:9090\"}, found a single "
       "value"},
      {"admin: {adress: x}",
       "1:9: admin.adress: unknown key \"adress\"; did you mean \"address\"?"},
      {"admin: {token: \"a b\"}", "1:16: admin.token: a token is printable ASCII without spaces"},
      {"admin: {hosts: weir}",
       "1:16: admin.hosts: expected a list of host names, such as [metrics.internal], found a "
       "single value"},
      {"admin: {hosts: [\"weir:80\"]}",
       "1:17: admin.hosts[0]: expected a host name without port, such as weir.internal (here "
       "\"weir:80\")"},
      {"admin: {hosts: [\"*.internal\"]}",
       "1:17: admin.hosts[0]: expected a host name without port"},
  });
}

TEST_CASE("workers, shutdown and client addresses") {
  check_all({
      {"workers: 0", "1:10: workers: expected auto or a whole number from 1 to 256 (here \"0\")"},
      {"workers: 257", "1:10: workers: expected auto"},
      {"workers: {}", "1:10: workers: expected a single value, found a map"},
      {"shutdown_timeout: 30", "1:19: shutdown_timeout: a duration needs a unit"},
      {"shutdown_timeout: 2d",
       "1:19: shutdown_timeout: expected a duration from 0s to 1d (here \"2d\")"},
      {"client_address: {trusted_proxies: [10.0.0.1/8]}",
       "1:36: client_address.trusted_proxies[0]: expected an address or a prefix"},
      {"client_address: {header: \"a b\"}", "1:26: client_address.header: expected the name"},
      {"client_address: {ipv4_prefix: 33}",
       "1:31: client_address.ipv4_prefix: expected a whole number from 1 to 32"},
      {"client_address: {ipv6_prefix: 0}",
       "1:31: client_address.ipv6_prefix: expected a whole number"},
      {"client_address: {untrusted_fields: [\"a b\"]}",
       "1:37: client_address.untrusted_fields[0]: expected the name of a header field, or the "
       "beginning of one and *, such as x-internal-* (here \"a b\")"},
      {"client_address: {untrusted_fields: [\"*\"]}",
       "1:37: client_address.untrusted_fields[0]: expected the name of a header field"},
      {"client_address: {untrusted_fields: [x-*-y]}",
       "1:37: client_address.untrusted_fields[0]: expected the name of a header field"},
      {"client_address: {untrusted_fields: [x-a, Host]}",
       "1:42: client_address.untrusted_fields[1]: the field frames or addresses a request "
       "and is always forwarded; remove it from the list"},
      {"client_address: {remove_untrusted_fields: 1}",
       "1:43: client_address.remove_untrusted_fields: expected true or false (here \"1\")"},
  });
}

TEST_CASE("downstream, response fields, access log and store") {
  check_all({
      {"downstream: {unusual_field_names: keep}",
       "1:35: downstream.unusual_field_names: expected pass or drop (here \"keep\")"},
      {"downstream:", "1:1: downstream: has no value; write one or remove the key"},
      {"downstream: {max_head: ~}", "1:14: downstream.max_head: has no value"},
      {"downstream: {max_head: 100}",
       "1:24: downstream.max_head: expected a size from 1KiB to 1MiB (here \"100\")"},
      {"downstream: {max_body: 1MB}", "1:24: downstream.max_body: unknown unit of size"},
      {"downstream: {idle_timeout: 0s}",
       "1:28: downstream.idle_timeout: expected a duration from 1ms to 1d"},
      {"downstream: {raw_target_bytes: yes}",
       "1:32: downstream.raw_target_bytes: expected refuse or pass (here \"yes\")"},
      {"downstream: {max_handshakes: 0}",
       "1:30: downstream.max_handshakes: expected a whole number from 1 to 1000000"},
      {"downstream: {max_connections: -1}",
       "1:31: downstream.max_connections: expected a whole number from 0"},
      {"response_headers: {standard: yes}",
       "1:30: response_headers.standard: expected true or false (here \"yes\")"},
      {"response_headers: {legacy: ratelimits}",
       "1:28: response_headers.legacy: expected ratelimit, x_ratelimit or none (here "
       "\"ratelimits\"); did you mean \"ratelimit\"?"},
      {"response_headers: {partition_key: 1}",
       "1:35: response_headers.partition_key: expected true or false (here \"1\")"},
      {"retry_after: date", "1:14: retry_after: expected seconds or http_date (here \"date\")"},
      {"retry_after_jitter: 2h", "1:21: retry_after_jitter: expected a duration from 0s to 1h"},
      {"access_log: {format: combined}",
       "1:22: access_log.format: expected json or text (here \"combined\")"},
      {"access_log: {sample: 0}", "1:22: access_log.sample: expected a share above 0"},
      {"access_log: {sample: 1.1}", "1:22: access_log.sample: expected a share above 0"},
      {"access_log: {only: allowed}", "1:20: access_log.only: expected all or denied"},
      {"access_log: {path: \"\"}", "1:20: access_log.path: expected -, off or a file name"},
      {"store: {memory: {max_keys: 0}}",
       "1:28: store.memory.max_keys: expected a whole number from 1"},
      {"upstreams: []",
       "1:12: upstreams: expected a map of upstreams by name, such as api: {servers: [{url: "
       "\"http://127.0.0.1:3000\"}]}, found a list"},
  });
}

TEST_CASE("every problem with certificates and keys is reported with its position") {
  const std::string found = problems_of(
      "listen: [{address: a:1, tls: {certificate: gone.crt, certificates: [{private_key: /}]}}]\n"
      "upstreams: {a: {servers: [{url: \"https://b\"}], tls: {certificate: gone.crt}}}\n" +
      test::route_tail);
  CHECK(found ==
        "1:30: listen[0].tls: the key \"private_key\" is missing; write private_key: tls.key\n"
        "1:44: listen[0].tls.certificate: cannot use file \"gone.crt\": No such file or directory; "
        "check the path, and in a container that the file is mounted\n"
        "1:69: listen[0].tls.certificates[0]: the key \"certificate\" is missing; write "
        "certificate: tls.crt\n"
        "1:83: listen[0].tls.certificates[0].private_key: cannot use file \"/\": it is not a "
        "regular file\n"
        "2:53: upstreams.a.tls: certificate and private_key belong together; write both or "
        "neither\n"
        "2:67: upstreams.a.tls.certificate: cannot use file \"gone.crt\": No such file or "
        "directory; check the path, and in a container that the file is mounted\n");
}

TEST_CASE("upstreams") {
  check_all({
      {"upstreams: {a: {}}", "1:16: upstreams.a: the key \"servers\" is missing"},
      {"upstreams: {a: {servers: []}}", "1:26: upstreams.a.servers: expected a list of servers"},
      {"upstreams: {a: {servers: [{}]}}",
       "1:27: upstreams.a.servers[0]: the key \"url\" is missing"},
      {"upstreams: {a: {servers: [{url: \"ftp://b\"}]}}",
       "1:33: upstreams.a.servers[0].url: unknown scheme; expected http://HOST:PORT or "
       "https://"},
      {"upstreams: {a: {servers: [{url: http://b}], tls: {server_name: c}}}",
       "1:50: upstreams.a.tls: tls has no meaning for http://; write https://"},
      {"upstreams: {a: {servers: [{url: http://b}, {url: \"http://b:80/\"}]}}",
       "1:44: upstreams.a.servers[1]: this server is already there; give that one more weight"},
      {"upstreams: {a: {servers: [{url: http://b, weight: 0}]}}",
       "1:51: upstreams.a.servers[0].weight: expected a whole number from 1 to 1000"},
      {"upstreams: {a: {servers: [{url: http://b}], balance: random}}",
       "1:54: upstreams.a.balance: expected round_robin or least_connections"},
      {"upstreams: {a: {servers: [{url: \"https://b\"}], tls: {ca: /}}}",
       "1:58: upstreams.a.tls.ca: cannot use file \"/\": it is not a regular file"},
      {"upstreams: {a: {servers: [{url: \"https://b\"}], tls: {server_name: \"c:443\"}}}",
       "1:67: upstreams.a.tls.server_name: expected the name in the server's certificate, such as "
       "api.example.com (here \"c:443\")"},
      {"upstreams: {a: {servers: [{url: \"https://b\"}], tls: {server_name: c.}}}",
       "1:67: upstreams.a.tls.server_name: expected the name in the server's certificate"},
      {"upstreams: {a: {servers: [{url: http://b}], health_check: {}}}",
       "1:59: upstreams.a.health_check: the key \"path\" is missing"},
      {"upstreams: {a: {servers: [{url: http://b}], health_check: {path: healthz}}}",
       "1:66: upstreams.a.health_check.path: expected a path, such as /healthz"},
      {"upstreams: {a: {servers: [{url: http://b}], health_check: {path: \"/a b\"}}}",
       "1:66: upstreams.a.health_check.path: expected a path, such as /healthz"},
      {"upstreams: {a: {servers: [{url: http://b}], health_check: {path: /, interval: 99ms}}}",
       "1:79: upstreams.a.health_check.interval: expected a duration from 100ms to 1h"},
      {"upstreams: {a: {servers: [{url: http://b}], health_check: {path: /, rise: 0}}}",
       "1:75: upstreams.a.health_check.rise: expected a whole number from 1 to 100"},
      {"upstreams: {a: {servers: [{url: http://b}], retries: 11}}",
       "1:54: upstreams.a.retries: expected a whole number from 0 to 10"},
      {"upstreams: {a: {servers: [{url: http://b}], retry_body: 2MiB}}",
       "1:57: upstreams.a.retry_body: expected a size from 0 to 1MiB (here \"2MiB\")"},
      {"upstreams: {a: {servers: [{url: http://b}], reuse: never}}",
       "1:52: upstreams.a.reuse: expected safe or always (here \"never\")"},
      {"upstreams: {\"\u00fc\": {servers: [{url: http://b}]}}",
       "1:19: upstreams.\"\u00fc\": a name is 1 to 128"},
  });
}

TEST_CASE("identities") {
  check_all({
      {"identities: {u: {}}", "1:17: identities.u: expected exactly one source"},
      {"identities: {u: {header: a, query: b}}", "1:17: identities.u: expected exactly one source"},
      {"identities: {u: {repeated: first}}", "1:17: identities.u: expected exactly one source"},
      {"identities: {u: {query: a, repeated: none}}",
       "1:38: identities.u.repeated: expected refuse, first or last (here \"none\")"},
      {"identities: {u: {malformed: accept}}", "1:17: identities.u: expected exactly one source"},
      {"identities: {u: {cookie: a, malformed: x}}",
       "1:40: identities.u.malformed: expected refuse or accept (here \"x\")"},
      {"identities: {u: {query: a, malformed: accept}}",
       "1:39: identities.u.malformed: only with cookie"},
      {"identities: {u: {header: a, repeated: last}}",
       "1:39: identities.u.repeated: only with query or cookie; a repeated header is always "
       "refused"},
      {"identities: {u: {heder: a}}",
       "1:18: identities.u.heder: unknown key \"heder\"; did you mean \"header\"?"},
      {"identities: {u: {header: \"a b\"}}", "1:26: identities.u.header: expected a name"},
      {"identities: {u: {query: \"\"}}",
       "1:25: identities.u.query: expected the name of a query parameter"},
      {"identities: {u: {cookie: \"a;b\"}}", "1:26: identities.u.cookie: expected a name"},
      {"identities: {u: {path: [a]}}",
       "1:24: identities.u.path: expected a single value, found a list"},
      {"identities: {u: {path: \"\"}}", "1:24: identities.u.path: expected the name of a path"},
      {"identities: {u: {query: \"${GONE}\"}}",
       "1:25: identities.u.query: environment variable \"GONE\" is not set"},
      {"identities: {u: {client_address: x}}", "1:34: identities.u.client_address: expected {}"},
      {"identities: {u: {any_of: []}}", "1:26: identities.u.any_of: expected a list of sources"},
      {"identities: {u: {all_of: [{header: x}, y]}}",
       "1:40: identities.u.all_of[1]: expected a map of keys"},
      {"identities: {u: {jwt: {claim: sub}}}",
       "1:23: identities.u.jwt: the key \"provider\" is missing"},
  });
}

TEST_CASE("policies") {
  std::vector<Case> cases = {
      {"{}", "1:15: policies.p: the rate is missing"},
      {"{rate: 10}",
       "1:22: policies.p.rate: expected a rate: COUNT/DURATION, such as 100/1m or 5/s (here "
       "\"10\")"},
      {"{rate: 0/s}", "1:22: policies.p.rate: the rate's count is 0"},
      {"{rate: 1/s, rates: [1/s]}", "1:34: policies.p.rates: rate and rates exclude each other"},
      {"{rates: [1/s, 2/m]}", "1:23: policies.p.rates: rates has 2 tiers, gcra takes one"},
      {"{algorithm: sliding_window, rates: []}",
       "1:50: policies.p.rates: expected a list of rates"},
      {"{algorithm: sliding_window, rate: 1/1us}",
       "1:49: policies.p.rate: a window of 1us does not divide"},
      {"{algorithm: sliding, rate: 1/s}",
       "1:27: policies.p.algorithm: expected fixed_window, attributed_window,"},
      {"{rate: 300000/s, burst: 999999999999}",
       "1:39: policies.p.burst: burst 999999999999 cannot be counted exactly"},
      {"{rate: 1/s, burst: 0}", "1:34: policies.p.burst: expected a whole number from 1"},
      {"{rate: 1/s, burst: 9007199254740993}", "1:34: policies.p.burst: expected a whole number"},
      {"{rate: 1/s, anchor: clock}", "1:35: policies.p.anchor: anchor has no meaning for gcra"},
      {"{rate: 1/s, count_rejected: true}",
       "1:43: policies.p.count_rejected: count_rejected has no meaning"},
      {"{rate: 1/s, queue: 5}", "1:34: policies.p.queue: queue has no meaning for gcra"},
      {"{rate: 1/s, max_delay: 5s}",
       "1:38: policies.p.max_delay: max_delay has no meaning for gcra"},
      {"{rate: 1/s, attributes: [path]}",
       "1:39: policies.p.attributes: attributes have no meaning for gcra"},
      {"{rate: 1/s, cost: -1}",
       "1:33: policies.p.cost: expected a whole number from 0 to 9007199254740992"},
      {"{rate: 1/s, cost: 9007199254740993}", "1:33: policies.p.cost: expected a whole number"},
      {"{rate: 1/s, mode: dry_run}", "1:33: policies.p.mode: expected enforce or shadow"},
      {"{rate: 1/s, on_failure: open}",
       "1:39: policies.p.on_failure: expected local, allow or deny (here \"open\")"},
      {"{rate: 1/s, status: 200}",
       "1:35: policies.p.status: expected a whole number from 400 to 599"},
      {"{rate: 1/s, headers: no}", "1:36: policies.p.headers: expected true or false"},
      {"{rate: 1/s, brust: 1}",
       "1:27: policies.p.brust: unknown key \"brust\"; did you mean \"burst\"?"},
  };
  for (Case& one : cases)
    one.yaml = "policies: {p: " + one.yaml + "}";
  check_all(cases);

  std::vector<Case> attributes = {
      {"body",
       "expected header:NAME, query:NAME, identity:NAME, claim:PROVIDER:CLAIM, client_address, "
       "method or path (here \"body\")"},
      {"\"header:\"", "expected header:NAME, such as header:user-agent"},
      {"\"header:a b\"", "expected header:NAME"},
      {"\"query:\"", "expected query:NAME"},
      {"\"jwt:sub\"",
       "jwt:CLAIM needs exactly one entry of jwt_providers; write "
       "claim:PROVIDER:CLAIM"},
      {"\"claim:idp:sub\"", "no JWT provider is called \"idp\""},
      {"\"cookie:a\"", "expected header:NAME"},
      {"\"identity:clint\"", "no identity is called \"clint\"; did you mean \"client\"?"},
  };
  for (Case& one : attributes) {
    one.yaml =
        "policies: {p: {algorithm: attributed_window, rate: 1/s, attributes: [" + one.yaml + "]}}";
    one.problem = "1:70: policies.p.attributes[0]: " + one.problem;
  }
  check_all(attributes, test::route_tail);
}

TEST_CASE("routes and their limits") {
  const std::string head =
      "upstreams: {api: {servers: [{url: http://a}]}}\n"
      "policies: {per_client: {rate: 10/s}, queued: {algorithm: leaky_bucket, rate: 1/s, queue: "
      "3}}\n"
      "identities: {user: {header: x}}\n";
  std::vector<Case> cases = {
      {"{}", "4:10: routes[0]: expected exactly one of upstream, respond and decide"},
      {"{upstream: api, respond: {}}",
       "4:10: routes[0]: expected exactly one of upstream, respond and decide"},
      {"{upstream: ap}",
       "4:21: routes[0].upstream: no upstream is called \"ap\"; did you mean \"api\"?"},
      {"{upstream: other}",
       "4:21: routes[0].upstream: no upstream is called \"other\"; known here: api"},
      {"{upstream: api, decide: true}",
       "4:10: routes[0]: expected exactly one of upstream, respond and decide"},
      {"{respond: {status: 101}}",
       "4:29: routes[0].respond.status: expected a whole number from 200 to 599"},
      {"{respond: {status: 204, body: x}}",
       "4:40: routes[0].respond.body: an answer with status 204 has no body"},
      {"{respond: {content_type: \"a\\r\\nb: c\"}}",
       "4:35: routes[0].respond.content_type: expected a media type"},
      {"{respond: {}, name: \"\"}",
       "4:30: routes[0].name: a name is 1 to 128 printable ASCII characters"},
      {"{respond: {}, name: a}, {respond: {}, name: a}",
       "4:54: routes[1].name: another route is already called \"a\""},
      {"{respond: {}, match: {host: \"a:80\"}}",
       "4:38: routes[0].match.host: expected a host without port"},
      {"{respond: {}, match: {host: \"*.\"}}",
       "4:38: routes[0].match.host: expected a host without port"},
      {"{respond: {}, match: {path: v1}}",
       "4:38: routes[0].match.path: path \"v1\": must start with \"/\""},
      {"{respond: {}, match: {methods: [get]}}",
       "4:42: routes[0].match.methods[0]: methods are case-sensitive; did you mean \"GET\"?"},
      {"{respond: {}, match: {methods: [\"G T\"]}}",
       "4:42: routes[0].match.methods[0]: expected a method"},
      {"{respond: {}, match: {headers: {\"a b\": c}}}",
       "4:49: routes[0].match.headers.\"a b\": expected the name"},
      {"{respond: {}, match: {headers: {a: \"b\\n\"}}}",
       "4:45: routes[0].match.headers.a: a header value has no"},
      {"{respond: {}, limit: []}",
       "4:24: routes[0].limit: unknown key \"limit\"; did you mean \"limits\"?"},
      {"{respond: {}, limits: [per_client]}", "4:33: routes[0].limits[0]: expected a map of keys"},
      {"{respond: {}, limits: [{key: user}]}",
       "4:33: routes[0].limits[0]: the key \"policy\" is missing"},
      {"{respond: {}, limits: [{policy: per_clent}]}",
       "4:42: routes[0].limits[0].policy: no policy is called \"per_clent\"; did you mean "
       "\"per_client\"?"},
      {"{respond: {}, limits: [{policy: per_client, key: usr}]}",
       "4:59: routes[0].limits[0].key: no identity is called \"usr\"; did you mean \"user\"?"},
      {"{respond: {}, limits: [{policy: per_client, otherwise: usr}]}",
       "4:65: routes[0].limits[0].otherwise: no identity is called \"usr\""},
      {"{respond: {}, limits: [{policy: per_client, key: user, otherwise: client, required: "
       "true}]}",
       "4:94: routes[0].limits[0].required: required and otherwise exclude each other"},
      {"{respond: {}, limits: [{policy: per_client, otherwise: client}]}",
       "4:65: routes[0].limits[0].otherwise: the same identity as key"},
      {"{respond: {}, limits: [{policy: per_client, key: usr, otherwise: client}, {policy: "
       "per_client}]}",
       "4:59: routes[0].limits[0].key: no identity is called \"usr\""},
      {"{respond: {}, name: \"${GONE}\"}", "4:30: routes[0].name: environment variable"},
      {"{respond: {}, limits: [{policy: queued, overdraft: true}]}",
       "4:61: routes[0].limits[0].overdraft: overdraft has no meaning for leaky_bucket"},
      {"{respond: {}, limits: [{policy: per_client, cost: -1}]}",
       "4:60: routes[0].limits[0].cost: expected a whole number from 0 to 9007199254740992 (here "
       "\"-1\")"},
      {"{respond: {}, limits: [{policy: per_client}, {policy: per_client, key: client}]}",
       "4:64: routes[0].limits[1].policy: the same policy and key are already in this route"},
  };
  for (Case& one : cases)
    one.yaml = head + "routes: [" + one.yaml + "]";
  check_all(cases, "");

  std::string many = head + "routes: [{respond: {}, limits: [";
  for (std::size_t i = 0; i <= limiter::limits_per_route; ++i) {
    many += "{policy: per_client, key: client},";
  }
  CHECK(problems_of(many + "]}]").find("routes[0].limits: more than 16 entries") !=
        std::string::npos);
}

TEST_CASE("all problems are reported at once, in the order of the file, and none twice") {
  CHECK(problems_of(R"(listn: []
workers: none
policies:
  a: {rate: 10/1s, brst: 20, anchor: clock, queue: 4}
  a: {}
  broken: {rate: often}
routes:
  - limits: [{policy: broken}, {policy: b, key: clint}]
)") == R"(1:1: listn: unknown key "listn"; did you mean "listen"?
2:10: workers: expected auto or a whole number from 1 to 256 (here "none")
4:20: policies.a.brst: unknown key "brst"; did you mean "burst"?
4:38: policies.a.anchor: anchor has no meaning for gcra: remove it, or use fixed_window or attributed_window
4:52: policies.a.queue: queue has no meaning for gcra: remove it, or use leaky_bucket
5:3: policies: duplicate key "a"; it is already on line 4; keep one, with all that belongs to it
6:18: policies.broken.rate: expected a rate: COUNT/DURATION, such as 100/1m or 5/s (here "often")
8:5: routes[0]: expected exactly one of upstream, respond and decide; write one, such as upstream: NAME
8:41: routes[0].limits[1].policy: no policy is called "b"; known here: a, broken
8:49: routes[0].limits[1].key: no identity is called "clint"; did you mean "client"?
)");
}

TEST_CASE("of a file with many mistakes the first hundred are reported") {
  std::string yaml = test::route_tail;
  for (int i = 0; i < 500; ++i)
    yaml += "key" + std::to_string(i) + ": 1\n";
  const std::string problems = problems_of(yaml);
  CHECK(std::count(problems.begin(), problems.end(), '\n') == 101);
  CHECK(problems.ends_with("\nand 400 more\n"));
}

}  // namespace
}  // namespace weir::config
