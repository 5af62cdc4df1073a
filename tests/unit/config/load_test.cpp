#include "config/load.hpp"

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using test::must_load;
using test::problems_of;

TEST_CASE("the smallest file has every default") {
  const auto config = must_load(test::route_tail);
  REQUIRE(config->listen.size() == 1);
  CHECK(config->listen[0].address.to_string() == "0.0.0.0:8080");
  REQUIRE(config->admin);
  CHECK(config->admin->address.to_string() == "127.0.0.1:9090");
  CHECK(config->admin->token.empty());
  CHECK(config->workers == 3);
  CHECK(config->shutdown_delay == 0s);
  CHECK(config->shutdown_timeout == 30s);
  CHECK(config->proxy.client_address.trusted_proxies.empty());
  CHECK(config->proxy.response_fields.standard);
  CHECK(config->proxy.response_fields.legacy == http::LegacyFields::ratelimit);
  CHECK(config->proxy.response_fields.retry_after == http::RetryAfterForm::seconds);
  CHECK_FALSE(config->proxy.response_fields.partition_key);
  CHECK(config->access_log.path == "-");
  CHECK(config->access_log.format == log::AccessLogOptions::Format::json);
  CHECK(config->memory.max_keys == 1'000'000);
  REQUIRE(config->limiter.identities.size() == 1);
  CHECK(config->limiter.identities[0].name == "client");
  CHECK(std::holds_alternative<identity::FromClientAddress>(
      config->limiter.identities[0].source.from));
  CHECK(config->presentation.warnings.empty());
  const SipKey built_in = sip_key_from_secret({});
  CHECK(config->limiter.identity_key.k0 == built_in.k0);
}

TEST_CASE("every process-wide key reaches its place") {
  const auto config = must_load(R"(
listen: [{address: "[::1]:0"}, {address: unix:/run/weir.sock, proxy_protocol: false, http2: false}]
admin: {address: 127.0.0.1:1234, token: t0ken, hosts: [weir, metrics.internal.]}
workers: 5
shutdown_delay: 5s
shutdown_timeout: 0s
client_address: {trusted_proxies: [10.0.0.0/8, ::1], header: CF-Connecting-IP, ipv4_prefix: 24, ipv6_prefix: 56}
downstream:
  {max_connections: 7, max_handshakes: 9, max_head: 16KiB, max_target: 4KiB, max_body: 1MiB, max_drain: 0,
   head_timeout: 1s, idle_timeout: 2s, body_timeout: 3s, max_age: 1h, raw_target_bytes: pass,
   http2: {max_streams: 8, glitches: 0}, per_address: {connections: 20, rate: 10/1s}}
response_headers: {standard: false, legacy: x_ratelimit, partition_key: false}
retry_after: http_date
retry_after_jitter: 5s
grpc: {denied_code: 14}
events: {at: [100, 50, 100]}
tracing: {generate: true}
access_log: {path: logs/access.log, format: text, sample: 0.25, only: denied}
store: {type: memory, memory: {max_keys: 1000}}
routes: [{respond: {}}]
)",
                                test::environment({}, "/etc/weir"));
  REQUIRE(config->listen.size() == 2);
  CHECK(config->listen[0].address.to_string() == "[::1]:0");
  CHECK(config->listen[0].http2);
  CHECK_FALSE(config->listen[1].http2);
  CHECK_FALSE(config->listen[1].tls.http2);
  CHECK(config->listen[1].address.unix_path == "/run/weir.sock");
  CHECK(config->admin->address.port == 1234);
  CHECK(config->admin->token.reveal() == "t0ken");
  CHECK(config->admin->hosts == std::vector<std::string>{"weir", "metrics.internal"});
  CHECK(config->workers == 5);
  CHECK(config->shutdown_delay == 5s);
  CHECK(config->shutdown_timeout == 0s);
  CHECK(config->proxy.client_address.trusted_proxies.size() == 2);
  CHECK(config->proxy.client_address.header == identity::ClientAddressOptions::Header::single);
  CHECK(config->proxy.client_address.header_name == "cf-connecting-ip");
  CHECK(config->proxy.client_address.ipv4_prefix == 24);
  CHECK(config->proxy.client_address.ipv6_prefix == 56);
  CHECK(config->proxy.downstream.max_connections == 7);
  CHECK(config->proxy.downstream.max_handshakes == 9);
  CHECK(config->proxy.downstream.max_head == 16'384);
  CHECK(config->proxy.downstream.max_target == 4096);
  CHECK(config->proxy.downstream.max_body == 1'048'576);
  CHECK(config->proxy.downstream.max_drain == 0);
  CHECK(config->proxy.downstream.head_timeout == 1s);
  CHECK(config->proxy.downstream.idle_timeout == 2s);
  CHECK(config->proxy.downstream.body_timeout == 3s);
  CHECK(config->proxy.downstream.max_age == 1h);
  CHECK(config->proxy.downstream.raw_target_bytes);
  CHECK(config->proxy.downstream.http2 == options::Http2{.max_streams = 8, .glitches = 0});
  CHECK(config->proxy.downstream.per_address.connections == 20);
  REQUIRE(config->proxy.downstream.per_address.rate.has_value());
  CHECK(config->proxy.downstream.per_address.rate->rates ==
        std::vector{rules::Rate{.count = 10, .per = 1s}});
  CHECK(config->proxy.downstream.per_address.rate->capacity == 10);
  CHECK_FALSE(config->proxy.response_fields.standard);
  CHECK(config->proxy.response_fields.legacy == http::LegacyFields::x_ratelimit);
  CHECK(config->proxy.response_fields.retry_after == http::RetryAfterForm::http_date);
  CHECK(config->proxy.response_fields.retry_after_jitter == 5s);
  CHECK(config->proxy.grpc == options::Grpc{.denied_code = 14});
  CHECK(config->event_percents == std::vector{50, 100});
  CHECK(config->proxy.tracing.generates);
  CHECK(config->access_log.path == "/etc/weir/logs/access.log");
  CHECK(config->access_log.sample == 0.25);
  CHECK(config->access_log.only == log::AccessLogOptions::Only::denied);
  CHECK(config->access_log.format == log::AccessLogOptions::Format::text);
  CHECK(config->memory.max_keys == 1000);
}

TEST_CASE("off turns off") {
  for (const std::string off : {"off", "false"}) {
    CAPTURE(off);
    const auto config =
        must_load("admin: " + off + "\naccess_log: " + off + "\n" + test::route_tail);
    CHECK_FALSE(config->admin);
    CHECK(config->access_log.path == "off");
  }
  CHECK(must_load("access_log: {path: off}\n" + test::route_tail)->access_log.path == "off");
  CHECK(must_load("access_log: {path: stdout}\n" + test::route_tail)->access_log.path == "-");
}

TEST_CASE("the header fields with the client's address") {
  using Header = identity::ClientAddressOptions::Header;
  const std::pair<std::string, Header> cases[] = {{"X-Forwarded-For", Header::x_forwarded_for},
                                                  {"Forwarded", Header::forwarded},
                                                  {"X-Real-IP", Header::single}};
  for (const auto& [name, header] : cases) {
    CAPTURE(name);
    CHECK(must_load("client_address: {header: " + name + "}\n" + test::route_tail)
              ->proxy.client_address.header == header);
  }
}

TEST_CASE("fields of untrusted peers") {
  const auto least = must_load(test::route_tail);
  CHECK(least->proxy.client_address.removes_untrusted_fields);
  CHECK(least->proxy.client_address.untrusted_fields.empty());
  CHECK(least->proxy.downstream.unusual_field_names == options::UnusualNames::pass);
  const auto config = must_load(
      "client_address: {remove_untrusted_fields: false, untrusted_fields: [X-Geo, \"x-in-*\"]}\n"
      "downstream: {unusual_field_names: drop}\n" +
      test::route_tail);
  CHECK_FALSE(config->proxy.client_address.removes_untrusted_fields);
  CHECK(config->proxy.client_address.untrusted_fields ==
        std::vector<std::string>{"x-geo", "x-in-*"});
  CHECK(config->proxy.downstream.unusual_field_names == options::UnusualNames::drop);
  CHECK(must_load("client_address: {untrusted_fields: []}\n" + test::route_tail)
            ->proxy.client_address.untrusted_fields.empty());
}

TEST_CASE(
    "an untrusted field that an identity reads is warned of, one that a route matches is not") {
  const auto config = must_load(R"(
client_address: {untrusted_fields: [x-a, x-key, x-tier]}
identities: {key: {header: X-Key}}
routes:
  - {match: {headers: {X-Tier: a}}, respond: {}}
  - {respond: {}, limits: [{policy: p, key: key}]}
policies: {p: {algorithm: gcra, rate: 1/1s}}
)");
  REQUIRE(config->presentation.warnings.size() == 1);
  CHECK(config->presentation.warnings[0].to_string() ==
        "2:42: client_address.untrusted_fields[1]: never removed: an identity reads this field");
}

TEST_CASE("an upstream with everything, and with nothing but its server") {
  const auto config = must_load(R"(
upstreams:
  full:
    servers: [{url: "http://[::1]:3000", weight: 3}, {url: "http://[::1]:3001"}]
    balance: least_connections
    connect_timeout: 10ms
    response_timeout: 20ms
    idle_timeout: 30ms
    retries: 0
    retry_body: 4KiB
    reuse: safe
    protocol: auto
    health_check: {path: "/healthz?a=b", interval: 1s, timeout: 200ms, rise: 4, fall: 5}
  least: {servers: [{url: http://api}]}
routes: [{upstream: least}, {match: {path: /x}, upstream: full}]
)");
  REQUIRE(config->upstreams.size() == 2);
  const options::Upstream& full = config->upstreams[0];
  CHECK(full.name == "full");
  CHECK(full.servers[0].host == "::1");
  CHECK(full.servers[0].port == 3000);
  CHECK(full.servers[0].weight == 3);
  REQUIRE(full.servers.size() == 2);
  CHECK(full.servers[1].port == 3001);
  CHECK(full.servers[1].weight == 1);
  CHECK(full.balance == options::Balance::least_connections);
  REQUIRE(full.health_check.has_value());
  CHECK(full.health_check->path == "/healthz?a=b");
  CHECK(full.health_check->interval == 1s);
  CHECK(full.health_check->timeout == 200ms);
  CHECK(full.health_check->rise == 4);
  CHECK(full.health_check->fall == 5);
  CHECK(full.connect_timeout == 10ms);
  CHECK(full.response_timeout == 20ms);
  CHECK(full.idle_timeout == 30ms);
  CHECK(full.retries == 0);
  CHECK(full.retry_body == 4096);
  CHECK(full.reuse == options::Reuse::safe);
  CHECK(full.protocol == options::Protocol::automatic);
  CHECK(config->upstreams[1].servers[0].port == 80);
  CHECK(config->upstreams[1].retries == 1);
  CHECK(config->upstreams[1].reuse == options::Reuse::always);
  CHECK(config->upstreams[1].protocol == options::Protocol::http1);
  CHECK(config->upstreams[1].retry_body == 16'384);
  CHECK(config->upstreams[1].balance == options::Balance::round_robin);
  CHECK_FALSE(config->upstreams[1].health_check.has_value());
  CHECK(config->proxy.routes[0].upstream == 1U);
  CHECK(config->proxy.routes[1].upstream == 0U);
}

TEST_CASE("variables are read after YAML and cannot add structure") {
  const std::string yaml =
      "access_log: {path: \"${LOG}\"}\nworkers: ${WORKERS:-4}\n" + test::route_tail;
  CHECK(must_load(yaml, test::environment({{"LOG", "-"}}))->workers == 4);
  CHECK(must_load(yaml, test::environment({{"LOG", "-"}, {"WORKERS", "2"}}))->workers == 2);
  const auto tricky = must_load(yaml, test::environment({{"LOG", "x\"}\nworkers: 9"}}, "/tmp"));
  CHECK(tricky->workers == 4);
  CHECK(problems_of(yaml) ==
        "1:20: access_log.path: environment variable \"LOG\" is not set; set it or write "
        "${LOG:-default}\n");
}

TEST_CASE("the identity secret changes the key, and a short one is warned of") {
  const auto with = [](const std::string& secret) {
    return must_load("identity_secret: " + secret + "\n" + test::route_tail);
  };
  CHECK(with("0123456789abcdef")->limiter.identity_key.k0 !=
        with("fedcba9876543210")->limiter.identity_key.k0);
  CHECK(with("0123456789abcdef")->presentation.warnings.empty());
  REQUIRE(with("short")->presentation.warnings.size() == 1);
  CHECK(with("short")->presentation.warnings[0].to_string().find("shorter than 16") !=
        std::string::npos);
  CHECK(with("\"\"")->limiter.identity_key.k0 == sip_key_from_secret({}).k0);
}

TEST_CASE("settings that are probably mistakes load with a warning") {
  const auto config = must_load(R"(
admin: {address: "0.0.0.0:9090"}
upstreams: {spare: {servers: [{url: "http://x"}]}}
identities: {api_key: {header: x-api-key}, client: {client_address: {}}}
policies:
  big: {rate: 5/1s}
  idle: {rate: 5/1s}
routes:
  - respond: {}
    limits: [{policy: big, cost: 6}]
  - {match: {path: /never}, respond: {}}
)");
  std::string all;
  for (const Diagnostic& warning : config->presentation.warnings)
    all += warning.to_string() + "\n";
  CHECK(all ==
        "2:18: admin.address: reachable from other machines without a token; set admin.token\n"
        "3:20: upstreams.spare: no route uses it\n"
        "4:23: identities.api_key: no route uses it\n"
        "7:9: policies.idle: no route uses it\n"
        "10:34: routes[0].limits[0].cost: a cost of 6 could never pass: the policy \"big\" holds "
        "at most 5\n"
        "11:5: routes[1]: never reached: the route before it takes every request; move it before "
        "that one\n");
}

TEST_CASE("a trusted prefix that means all addresses of a family is worth a warning") {
  const auto warnings = [](const std::string& prefix) {
    return must_load("client_address: {trusted_proxies: [10.0.0.0/8, \"" + prefix + "\"]}\n" +
                     test::route_tail)
        ->presentation.warnings;
  };
  for (const char* prefix : {"0.0.0.0/0", "64:ff9b::/96", "::ffff:0:0/96", "64:ff9b::0.0.0.0/96"}) {
    INFO(prefix);
    const auto found = warnings(prefix);
    REQUIRE(found.size() == 1);
    CHECK(found[0].to_string() ==
          "1:48: client_address.trusted_proxies[1]: this prefix means every IPv4 address, so each "
          "client could choose the address that it is counted for; list the addresses of the "
          "proxies instead");
  }
  CHECK(warnings("::/0")[0].to_string().find("every IPv6 address") != std::string::npos);
  for (const char* prefix :
       {"64:ff9b::a00:0/104", "::/1", "2001:db8::/32", "128.0.0.0/1", "::ffff:10.0.0.1"}) {
    INFO(prefix);
    CHECK(warnings(prefix).empty());
  }
}

TEST_CASE("admin.hosts has no effect with a token") {
  const auto warnings = [](const std::string& admin) {
    return must_load("admin: {" + admin + "}\n" + test::route_tail)->presentation.warnings;
  };
  CHECK(warnings("hosts: [a]").empty());
  CHECK(warnings("hosts: [], token: t").empty());
  REQUIRE(warnings("hosts: [a], token: t").size() == 1);
  CHECK(warnings("hosts: [a], token: t")[0].to_string() ==
        "1:16: admin.hosts: never read: with admin.token every Host is accepted");
}

TEST_CASE("a pattern with bytes that targets may not have is warned of") {
  const auto warnings = [](const std::string& path, const std::string& more = {}) {
    return must_load(more + "routes: [{match: {path: \"" + path + "\"}, respond: {}}]\n")
        ->presentation.warnings;
  };
  for (const std::string path : {"/caf\xc3\xa9", "/a\\\\b"}) {
    REQUIRE(warnings(path).size() == 1);
    CHECK(warnings(path)[0].to_string() ==
          "1:25: routes[0].match.path: never matches: targets with backslashes or bytes that are "
          "not ASCII are refused; percent-encode them, or set downstream.raw_target_bytes: pass");
    CHECK(warnings(path, "downstream: {raw_target_bytes: pass}\n").empty());
  }
  CHECK(warnings("/caf%C3%A9").empty());
}

TEST_CASE("raw bytes in targets are refused by default") {
  CHECK_FALSE(must_load(test::route_tail)->proxy.downstream.raw_target_bytes);
  CHECK_FALSE(must_load("downstream: {raw_target_bytes: refuse}\n" + test::route_tail)
                  ->proxy.downstream.raw_target_bytes);
}

TEST_CASE("a forgotten check of a load is loud") {
  CHECK_THROWS_WITH(load_text("", test::environment()).value(),
                    Catch::Matchers::Contains("the file is empty"));
}

TEST_CASE("addresses and files have their positions for problems that are found later") {
  const auto config = must_load(R"(access_log: {path: access.log}
admin:
  address: 127.0.0.1:9090
listen:
  - address: 127.0.0.1:80
  - proxy_protocol: false
    address: unix:/run/weir.sock
upstreams:
  api: {servers: [{url: "https://api"}], tls: {verify: false}}
  web: {servers: [{url: "http://web"}]}
routes: [{upstream: api}, {upstream: web}]
)");
  struct Row {
    const char* path;
    int line, column;
  };
  const Row rows[] = {
      {"access_log.path", 1, 20},   {"admin.address", 3, 12},      {"listen[0].address", 5, 14},
      {"listen[0].tls", 5, 5},      {"listen[1].address", 7, 14},  {"upstreams.api.tls", 9, 47},
      {"upstreams.web.tls", 10, 8}, {"upstreams.other.tls", 0, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    const Diagnostic expected{row.line, row.column, row.path, "wrong"};
    CHECK(config->presentation.positions.problem(row.path, "wrong").to_string() ==
          expected.to_string());
  }
}

TEST_CASE("what cannot change keeps its running value and is named") {
  const std::string rest =
      "policies: {p: {rate: 10/1m}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n";
  const std::string secret = "identity_secret: 0123456789abcdef0123456789abcdef\n";
  const std::string store =
      "store: {type: redis, redis: {url: \"redis://r\", replicas: 4, on_failure: deny}}\n";
  const auto running = must_load("workers: 2\n" + secret + store + rest);
  Environment in = environment();
  in.running = running.get();
  CHECK(must_load("workers: 2\n" + secret + store + rest, in)->restart_needed.empty());

  const auto next = must_load("downstream: {max_head: 1024}\n" + rest, in);
  CHECK(next->restart_needed ==
        std::vector<std::string>{"workers", "identity_secret", "store.type"});
  CHECK(next->workers == 2);
  CHECK(next->limiter.identity_key == running->limiter.identity_key);
  CHECK(next->store_type == StoreType::redis);
  CHECK(next->redis == running->redis);
  CHECK(next->limiter.policies[0].on_failure == limiter::OnFailure::deny);
  CHECK(next->proxy.downstream.max_head == 1024);
  CHECK(next->presentation.warnings.empty());

  const auto other =
      must_load("workers: 2\n" + secret +
                    "store: {type: redis, redis: {url: \"redis://other\", replicas: 5}}\n" + rest,
                in);
  CHECK(other->restart_needed.empty());
  CHECK(other->redis.connection.host == "other");
  CHECK(other->redis.replicas == 5);
}

}  // namespace
}  // namespace weir::config
