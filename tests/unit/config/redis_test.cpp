// `store.redis` and its effect on policies.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "catch.hpp"
#include "unit/config/loading.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using test::must_load;
using test::problems_of;

Environment with_tls() {
  Environment environment = test::environment();
  environment.redis_tls = true;
  return environment;
}

std::string with_store(const std::string& redis, const std::string& policies = "") {
  return "identity_secret: 0123456789abcdef0123456789abcdef\n"
         "store: {type: redis, redis: " +
         redis + "}\n" + (policies.empty() ? "" : "policies: " + policies + "\n") +
         test::route_tail;
}

options::Redis from_url(const std::string& url) {
  return must_load(with_store("{url: \"" + url + "\"}"), with_tls())->redis.connection;
}

TEST_CASE("a redis store, every key of it") {
  const auto config = must_load(with_store(
      "{url: \"redis://weir:secret@redis.example:6380/3\", topology: standalone, servers: [],"
      " key_prefix: \"limits:\", connect_timeout: 1s, timeout: 5ms,"
      " breaker: {failures: 2, retry_after: 250ms}, on_failure: deny, replicas: 4,"
      " leases: {share: 15, duration: 100ms}}"));
  CHECK(config->store_type == StoreType::redis);
  const RedisStore& redis = config->redis;
  CHECK(redis.connection.host == "redis.example");
  CHECK(redis.connection.port == 6380);
  CHECK(redis.connection.unix_path.empty());
  CHECK(redis.connection.user == "weir");
  CHECK(redis.connection.password.reveal() == "secret");
  CHECK(redis.connection.database == 3);
  CHECK_FALSE(redis.connection.secure);
  CHECK(redis.connection.key_prefix == "limits:");
  CHECK(redis.connection.connect_timeout == 1s);
  CHECK(redis.connection.timeout == 5ms);
  CHECK(redis.breaker_failures == 2);
  CHECK(redis.breaker_retry_after == 250ms);
  CHECK(redis.on_failure == limiter::OnFailure::deny);
  CHECK(redis.replicas == 4);
  CHECK(redis.lease_share == 15);
  CHECK(redis.lease_duration == 100ms);
  CHECK(config->presentation.warnings.empty());
}

TEST_CASE("a redis that sentinels find") {
  const auto config = must_load(with_store(
      "{url: \"redis://weir:secret@unused/3\", topology: sentinel, sentinel_master: limits,"
      " servers: [\"sentinel-1:26379\", \"[::1]:26380\"], sentinel_user: ann, "
      "sentinel_password: sesame, replicas: "
      "1}"));
  const options::Redis& redis = config->redis.connection;
  CHECK(redis.topology == options::RedisTopology::sentinel);
  CHECK(redis.servers == std::vector<options::RedisServer>{{"sentinel-1", 26379}, {"::1", 26380}});
  CHECK(redis.sentinel_master == "limits");
  CHECK(redis.sentinel_user == "ann");
  CHECK(redis.sentinel_password.reveal() == "sesame");
  CHECK(redis.user == "weir");
  CHECK(redis.database == 3);
}

TEST_CASE("the defaults of sentinels may be written without sentinels") {
  const auto config =
      must_load(with_store("{url: \"redis://r\", topology: standalone, servers: [],"
                           " sentinel_master: mymaster, sentinel_password: \"\", replicas: 1}"));
  CHECK(config->redis.connection.topology == options::RedisTopology::standalone);
}

TEST_CASE("a redis cluster") {
  const auto config =
      must_load(with_store("{url: \"redis://weir:secret@unused\", topology: cluster, replicas: 1,"
                           " servers: [\"redis-1:6379\", \"[::1]:6380\"]}"));
  const options::Redis& redis = config->redis.connection;
  CHECK(redis.topology == options::RedisTopology::cluster);
  CHECK(redis.servers == std::vector<options::RedisServer>{{"redis-1", 6379}, {"::1", 6380}});
  CHECK(redis.user == "weir");
  const auto from_url =
      must_load(with_store("{url: \"redis://redis-1:7000\", topology: cluster, replicas: 1}"));
  CHECK(from_url->redis.connection.servers == std::vector<options::RedisServer>{{"redis-1", 7000}});
}

TEST_CASE("keys of the redis store are kept whatever their order") {
  const auto config =
      must_load(with_store("{timeout: 7ms, replicas: 2, url: \"redis://127.0.0.1\"}"));
  CHECK(config->redis.connection.timeout == 7ms);
  CHECK(config->redis.replicas == 2);
  CHECK(config->redis.connection.host == "127.0.0.1");
}

TEST_CASE(
    "policies have leases if there is a share, their algorithm allows it and they do not refuse") {
  const std::string policies =
      "{plain: {rate: 100/1s}, small: {rate: 30/1s}, refused: {rate: 100/1s, lease: false}, "
      "wanted: {rate: 100/1s, "
      "lease: true}, slots: {algorithm: concurrency, limit: 100}, turns: {algorithm: leaky_bucket, "
      "rate: 100/1s}, entries: {algorithm: attributed_window, rate: 100/1s}, counted: {algorithm: "
      "fixed_window, rate: 100/1s, count_rejected: true}}";
  const auto leased = [&](const std::string& store) {
    const auto config = must_load(with_store(store, policies));
    std::vector<std::string> names;
    for (const limiter::Policy& policy : config->limiter.policies) {
      if (policy.lease) names.push_back(policy.name);
    }
    return names;
  };
  CHECK(leased("{url: \"redis://r\", leases: {share: 10}}") ==
        std::vector<std::string>{"plain", "wanted"});
  const auto config = must_load(with_store("{url: \"redis://r\", replicas: 1, leases: {share: 3}}",
                                           "{few: {rate: 100/1s, lease: true}}"));
  CHECK(std::ranges::any_of(config->presentation.warnings, [](const Diagnostic& warning) {
    return warning.key_path == "policies.few.lease" &&
           warning.message.starts_with("has no effect: the share of an instance, 3 % of the quota");
  }));
}

TEST_CASE("a redis over TLS") {
  CHECK(from_url("rediss://redis.example:6380").secure);
  const auto without = problems_of(with_store("{url: \"rediss://redis.example\"}"));
  CHECK(without.starts_with(
      "2:35: store.redis.url: rediss:// needs a hiredis with TLS (1.0 or later: Debian 13"));
  const auto pointless = problems_of(
      with_store("{url: \"redis://redis.example\", tls: {server_name: redis}}"), with_tls());
  CHECK(pointless == "2:65: store.redis.tls: tls has no meaning for this url; write rediss://\n");

  const tls::test::MadeCertificate made("redis");
  Environment in = with_tls();
  in.directory = std::filesystem::path(made.files().certificate).parent_path();
  const auto config = must_load(with_store("{url: \"rediss://redis\", tls: {ca: crt, certificate: "
                                           "crt, private_key: key, server_name: other}}"),
                                in);
  CHECK(config->redis.connection.tls.ca == made.files().certificate);
  CHECK(config->redis.connection.tls.own.certificate == made.files().certificate);
  CHECK(config->redis.connection.tls.own.private_key == made.files().private_key);
  CHECK(config->redis.connection.tls.server_name == "other");
  CHECK(config->redis.connection.tls.verify);
  CHECK(config->presentation.warnings.empty());
  const auto trusting =
      must_load(with_store("{url: \"rediss://redis\", tls: {verify: false}}"), with_tls());
  CHECK_FALSE(trusting->redis.connection.tls.verify);
  REQUIRE(trusting->presentation.warnings.size() == 1);
  CHECK(trusting->presentation.warnings[0].key_path == "store.redis.tls.verify");
  const auto wrong =
      problems_of(with_store("{url: \"rediss://redis\", tls: {ca: gone, certificate: key}}"), in);
  CHECK(wrong.find("store.redis.tls: certificate and private_key belong together") !=
        std::string::npos);
  CHECK(wrong.find("store.redis.tls.ca: cannot use file ") != std::string::npos);
  CHECK(wrong.find(": it has no certificate in PEM form") != std::string::npos);
}

TEST_CASE("the URL of a redis is a secret: a variable, or a file") {
  std::string directory = "/tmp/weir-config-XXXXXX";
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  std::ofstream(directory + "/url") << "redis://:from-file@redis\n";
  const Environment in = test::environment({{"PASSWORD", "from-variable"}}, directory);
  const auto url = [&](const std::string& text) {
    return must_load(with_store("{url: \"" + text + "\"}"), in)->redis.connection.password.reveal();
  };
  CHECK(url("file:url") == "from-file");
  CHECK(url("redis://:${PASSWORD}@redis") == "from-variable");
  const std::string missing = problems_of(with_store("{url: \"redis://:${NONE}@h\"}"), in);
  CHECK(std::count(missing.begin(), missing.end(), '\n') == 1);
  const std::string unread = problems_of(with_store("{url: \"file:none\"}"), in);
  CHECK(std::count(unread.begin(), unread.end(), '\n') == 1);
  std::filesystem::remove_all(directory);
}

TEST_CASE("the redis section is checked under type memory, too") {
  const auto config = must_load(
      "store: {type: memory, redis: {url: \"redis://r\", replicas: 9}}\n"
      "policies: {p: {rate: 1/s}}\n"
      "routes: [{respond: {}, limits: [{policy: p}]}]\n");
  CHECK(config->store_type == StoreType::memory);
  CHECK(config->fixed_replicas() == 1);
  CHECK(config->presentation.warnings.empty());
  CHECK(problems_of("store: {redis: {replicas: 0}}\n" + test::route_tail)
            .starts_with("1:27: store.redis.replicas"));
}

TEST_CASE("a policy's on_failure is the store's, or its own") {
  const auto config = must_load(with_store(
      "{url: \"redis://r\", on_failure: deny}",
      "{a: {rate: 1/s}, b: {rate: 1/s, on_failure: allow}, c: {rate: 1/s, on_failure: local}}"));
  CHECK(config->limiter.policies[0].on_failure == limiter::OnFailure::deny);
  CHECK(config->limiter.policies[1].on_failure == limiter::OnFailure::allow);
  CHECK(config->limiter.policies[2].on_failure == limiter::OnFailure::local);
}

TEST_CASE("each instance needs a share of a policy that it decides alone") {
  const auto config =
      must_load(with_store("{url: \"redis://r\", replicas: 4}",
                           "{a: {rate: 100/1m, burst: 50}, b: {rate: 1/s, on_failure: allow},"
                           " c: {algorithm: sliding_window, rates: [400/1s, 4000/1m]}}"));
  CHECK(config->limiter.policies[0].numbers.capacity == 50);
  CHECK(config->fixed_replicas() == 4);

  const std::string nothing =
      problems_of(with_store("{url: \"redis://r\", replicas: 4}",
                             "{a: {rate: 3/1m}, b: {rate: 100/1s, burst: 2, on_failure: local}}"));
  CHECK(nothing ==
        "3:15: policies.a: one of 4 instances cannot have a share of 3 units while Redis is "
        "down; use fewer store.redis.replicas, or on_failure: allow or deny for this policy\n"
        "3:69: policies.b.on_failure: one of 4 instances cannot have a share of 2 units while "
        "Redis is down; use fewer store.redis.replicas, or on_failure: allow or deny for this "
        "policy\n");
}

TEST_CASE("the number of instances can be left to the running process") {
  const auto config =
      must_load(with_store("{url: \"redis://r\", replicas: auto}", "{a: {rate: 1/1m}}"));
  CHECK_FALSE(config->redis.replicas.has_value());
  CHECK(config->fixed_replicas() == 1);
}

TEST_CASE("settings that load with a warning because others can read the keys") {
  const auto unset =
      must_load("store: {type: redis, redis: {url: \"redis://r\"}}\n" + test::route_tail);
  REQUIRE(unset->presentation.warnings.size() == 1);
  CHECK(unset->presentation.warnings[0].to_string().starts_with(
      "1:8: store: without identity_secret the keys in Redis are hashed with a built-in value"));

  const std::string shown = "response_headers: {partition_key: true}\n" + test::route_tail;
  const auto guessable = must_load(shown);
  REQUIRE(guessable->presentation.warnings.size() == 1);
  CHECK(guessable->presentation.warnings[0].to_string().starts_with(
      "1:35: response_headers.partition_key: without identity_secret"));
  CHECK(must_load("identity_secret: 0123456789abcdef0123456789abcdef\n" + shown)
            ->presentation.warnings.empty());

  const std::string secret = "identity_secret: 0123456789abcdef0123456789abcdef\n";
  const auto shared = [&](const std::string& redis, const std::string& on_failure) {
    return must_load(secret + "store: {type: redis, redis: {url: \"redis://r\"" + redis +
                     "}}\npolicies: {p: {rate: 10/1m" + on_failure +
                     "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n")
        ->presentation.warnings;
  };
  const auto lonely = shared("", "");
  REQUIRE(lonely.size() == 1);
  CHECK(lonely[0].to_string() ==
        "2:29: store.redis: without replicas each instance admits the whole quota while Redis is "
        "down, here of the policy \"p\"; set replicas to auto, or to the largest number of "
        "instances, also if it is 1");
  CHECK(shared(", replicas: auto", "").empty());
  CHECK(shared(", replicas: 1", "").empty());
  CHECK(shared("", ", on_failure: deny").empty());
  CHECK(shared(", on_failure: allow", "").empty());

  const auto costly = must_load(
      "identity_secret: 0123456789abcdef0123456789abcdef\n"
      "store: {type: redis, redis: {url: \"redis://r\", replicas: 4}}\n"
      "policies: {p: {rate: 10/1m}}\n"
      "routes: [{respond: {}, limits: [{policy: p, cost: 3}]}]\n");
  REQUIRE(costly->presentation.warnings.size() == 1);
  CHECK(costly->presentation.warnings[0].to_string() ==
        "4:51: routes[0].limits[0].cost: a cost of 3 cannot pass while Redis is down: this "
        "instance's share of the policy \"p\" is 2");
}

}  // namespace
}  // namespace weir::config
