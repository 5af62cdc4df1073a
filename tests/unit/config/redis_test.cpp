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

redis::Options from_url(const std::string& url) {
  return must_load(with_store("{url: \"" + url + "\"}"), with_tls())->redis;
}

TEST_CASE("a redis store, every key of it") {
  const auto config = must_load(with_store(
      "{url: \"redis://weir:secret@redis.example:6380/3\", topology: standalone, servers: [],"
      " key_prefix: \"limits:\", connect_timeout: 1s, timeout: 5ms,"
      " breaker: {failures: 2, retry_after: 250ms}, on_failure: deny, replicas: 4}"));
  CHECK(config->store_type == StoreType::redis);
  const RedisStore& redis = config->redis;
  CHECK(redis.host == "redis.example");
  CHECK(redis.port == 6380);
  CHECK(redis.unix_path.empty());
  CHECK(redis.user == "weir");
  CHECK(redis.password.reveal() == "secret");
  CHECK(redis.database == 3);
  CHECK_FALSE(redis.secure);
  CHECK(redis.key_prefix == "limits:");
  CHECK(redis.connect_timeout == 1s);
  CHECK(redis.timeout == 5ms);
  CHECK(redis.breaker_failures == 2);
  CHECK(redis.breaker_retry_after == 250ms);
  CHECK(redis.on_failure == limiter::OnFailure::deny);
  CHECK(redis.replicas == 4);
  CHECK(config->warnings.empty());
}

TEST_CASE("keys of the redis store are kept whatever their order") {
  const auto config =
      must_load(with_store("{timeout: 7ms, replicas: 2, url: \"redis://127.0.0.1\"}"));
  CHECK(config->redis.timeout == 7ms);
  CHECK(config->redis.replicas == 2);
  CHECK(config->redis.host == "127.0.0.1");
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
  CHECK(config->redis.tls.ca == made.files().certificate);
  CHECK(config->redis.tls.own.certificate == made.files().certificate);
  CHECK(config->redis.tls.own.private_key == made.files().private_key);
  CHECK(config->redis.tls.server_name == "other");
  CHECK(config->redis.tls.verify);
  CHECK(config->warnings.empty());
  const auto trusting =
      must_load(with_store("{url: \"rediss://redis\", tls: {verify: false}}"), with_tls());
  CHECK_FALSE(trusting->redis.tls.verify);
  REQUIRE(trusting->warnings.size() == 1);
  CHECK(trusting->warnings[0].key_path == "store.redis.tls.verify");
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
    return must_load(with_store("{url: \"" + text + "\"}"), in)->redis.password.reveal();
  };
  CHECK(url("file:url") == "from-file");
  CHECK(url("redis://:${PASSWORD}@redis") == "from-variable");
  const std::string missing = problems_of(with_store("{url: \"redis://:${NONE}@h\"}"), in);
  CHECK(std::count(missing.begin(), missing.end(), '\n') == 1);
  const std::string unread = problems_of(with_store("{url: \"file:none\"}"), in);
  CHECK(std::count(unread.begin(), unread.end(), '\n') == 1);
  std::filesystem::remove_all(directory);
}

TEST_CASE("problems of a redis store") {
  struct Case {
    std::string redis, problem;
  };
  const std::vector<Case> cases = {
      {"{}", "2:29: store.redis: the redis store needs its url"},
      {"{url: \"\"}", "2:35: store.redis.url: expected a URL, such as redis://127.0.0.1:6379"},
      {"{url: \"${NONE:-}\"}", "2:35: store.redis.url: expected a URL"},
      {"{url: redis}", "2:35: store.redis.url: expected a URL"},
      {"{url: \"http://redis\"}", "2:35: store.redis.url: expected a URL"},
      {"{url: \"redis://\"}", "2:35: store.redis.url: expected redis://HOST:PORT/DATABASE"},
      {"{url: \"redis://a b\"}",
       "2:35: store.redis.url: the URL contains a space after 9 bytes, which may be invisible"},
      {"{url: \"redis://redis\\r\"}",
       "2:35: store.redis.url: the URL contains a line end after 13"},
      {"{url: \"redis://:a\\tb@redis\"}", "2:35: store.redis.url: the URL contains a control char"},
      {"{url: \"redis://:a\\u200bb@redis\"}",
       "2:35: store.redis.url: the URL contains a character that is not ASCII after 10 bytes"},
      {"{url: \"redis://redis:0\"}", "2:35: store.redis.url: port 0 cannot be connected to"},
      {"{url: \"redis://redis:70000\"}", "2:35: store.redis.url: expected redis://HOST:PORT"},
      {"{url: \"redis://redis/x\"}", "2:35: store.redis.url: expected the number of a database"},
      {"{url: \"redis://redis/-1\"}", "2:35: store.redis.url: expected the number of a database"},
      {"{url: \"redis://redis/0?db=1\"}",
       "2:35: store.redis.url: the URL ends after the number of the database"},
      {"{url: \"redis://user@redis\"}", "2:35: store.redis.url: the user has no password"},
      {"{url: \"redis://user:@redis\"}", "2:35: store.redis.url: the user has no password"},
      {"{url: \"redis://u:%zz@redis\"}",
       "2:35: store.redis.url: a % without two hexadecimal digits"},
      {"{url: \"redis://u:%00@redis\"}",
       "2:35: store.redis.url: a % without two hexadecimal digits"},
      {"{url: \"redis://u:a/b@redis\"}", "2:35: store.redis.url: expected redis://HOST:PORT"},
      {"{url: \"unix://run/redis.sock\"}", "2:35: store.redis.url: expected unix:///PATH"},
      {"{url: \"unix:///\"}", "2:35: store.redis.url: expected unix:///PATH"},
      {"{url: \"unix:///" + std::string(107, 'x') + "\"}",
       "2:35: store.redis.url: the path of a socket has at most 107 bytes"},
      {"{url: \"unix:///a?database=1\"}", "2:35: store.redis.url: after the path only ?db="},
      {"{url: \"redis://r\", topology: cluster}",
       "2:58: store.redis.topology: another topology than standalone is not supported yet"},
      {"{url: \"redis://r\", topology: ring}",
       "2:58: store.redis.topology: expected standalone, sentinel or cluster (here \"ring\")"},
      {"{url: \"redis://r\", servers: [a:1]}",
       "2:57: store.redis.servers: a list of sentinels or cluster nodes is not supported yet"},
      {"{url: \"redis://r\", sentinel_master: m}",
       "2:65: store.redis.sentinel_master: sentinel_master is not supported yet"},
      {"{url: \"redis://r\", key_prefix: \"a b\"}",
       "2:60: store.redis.key_prefix: expected up to 64 printable ASCII characters"},
      {"{url: \"redis://r\", key_prefix: \"a{b\"}", "2:60: store.redis.key_prefix: expected up to"},
      {"{url: \"redis://r\", key_prefix: " + std::string(65, 'x') + "}",
       "2:60: store.redis.key_prefix: expected up to 64"},
      {"{url: \"redis://r\", timeout: 0ms}",
       "2:57: store.redis.timeout: expected a duration from 1ms to 1m (here \"0ms\")"},
      {"{url: \"redis://r\", connect_timeout: 2m}",
       "2:65: store.redis.connect_timeout: expected a duration from 1ms to 1m"},
      {"{url: \"redis://r\", breaker: {failures: 0}}",
       "2:68: store.redis.breaker.failures: expected a whole number from 1 to 1000"},
      {"{url: \"redis://r\", breaker: {failures: 1001}}",
       "2:68: store.redis.breaker.failures: expected a whole number from 1 to 1000 (here"},
      {"{url: \"redis://r\", breaker: {retry_after: 1ms}}",
       "2:71: store.redis.breaker.retry_after: expected a duration from 10ms to 1h"},
      {"{url: \"redis://r\", on_failure: open}",
       "2:60: store.redis.on_failure: expected local, allow or deny (here \"open\")"},
      {"{url: \"redis://r\", replicas: 0}",
       "2:58: store.redis.replicas: expected a whole number from 1 to 100000"},
      {"{url: \"redis://r\", timout: 1ms}",
       "2:48: store.redis.timout: unknown key \"timout\"; did you mean \"timeout\"?"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.redis);
    const std::string problems = problems_of(with_store(one.redis));
    CAPTURE(problems);
    CHECK(problems.starts_with(one.problem));
    CHECK(std::count(problems.begin(), problems.end(), '\n') == 1);
  }
  CHECK(problems_of("store: {type: redis}\n" + test::route_tail)
            .starts_with("1:8: store: the redis store needs its url"));
}

TEST_CASE("the redis section is checked under type memory, too") {
  const auto config = must_load(
      "store: {type: memory, redis: {url: \"redis://r\", replicas: 9}}\n"
      "policies: {p: {rate: 1/s}}\n"
      "routes: [{respond: {}, limits: [{policy: p}]}]\n");
  CHECK(config->store_type == StoreType::memory);
  CHECK(config->policies[0].local_numbers.rates == config->policies[0].numbers.rates);
  CHECK(config->warnings.empty());
  CHECK(problems_of("store: {redis: {replicas: 0}}\n" + test::route_tail)
            .starts_with("1:27: store.redis.replicas"));
}

TEST_CASE("a policy's on_failure is the store's, or its own") {
  const auto config = must_load(with_store(
      "{url: \"redis://r\", on_failure: deny}",
      "{a: {rate: 1/s}, b: {rate: 1/s, on_failure: allow}, c: {rate: 1/s, on_failure: local}}"));
  CHECK(config->policies[0].on_failure == limiter::OnFailure::deny);
  CHECK(config->policies[1].on_failure == limiter::OnFailure::allow);
  CHECK(config->policies[2].on_failure == limiter::OnFailure::local);
}

TEST_CASE("a policy that falls back to this instance has its share of the quota") {
  const auto config =
      must_load(with_store("{url: \"redis://r\", replicas: 4}",
                           "{a: {rate: 100/1m, burst: 50}, b: {rate: 1/s, on_failure: allow},"
                           " c: {algorithm: sliding_window, rates: [400/1s, 4000/1m]}}"));
  CHECK(config->policies[0].numbers.capacity == 50);
  CHECK(config->policies[0].local_numbers.capacity == 12);
  CHECK(config->policies[0].local_numbers.rates[0] == rules::Rate{25, 60s});
  CHECK(config->policies[1].local_numbers.rates == config->policies[1].numbers.rates);
  CHECK(config->policies[2].local_numbers.rates[0] == rules::Rate{100, 1s});
  CHECK(config->policies[2].local_numbers.rates[1] == rules::Rate{1000, 60s});

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

TEST_CASE("settings that load with a warning because others can read the keys") {
  const auto unset =
      must_load("store: {type: redis, redis: {url: \"redis://r\"}}\n" + test::route_tail);
  REQUIRE(unset->warnings.size() == 1);
  CHECK(unset->warnings[0].to_string().starts_with(
      "1:8: store: without identity_secret the keys in Redis are hashed with a built-in value"));

  const std::string shown = "response_headers: {partition_key: true}\n" + test::route_tail;
  const auto guessable = must_load(shown);
  REQUIRE(guessable->warnings.size() == 1);
  CHECK(guessable->warnings[0].to_string().starts_with(
      "1:35: response_headers.partition_key: without identity_secret"));
  CHECK(must_load("identity_secret: 0123456789abcdef0123456789abcdef\n" + shown)->warnings.empty());

  const std::string secret = "identity_secret: 0123456789abcdef0123456789abcdef\n";
  const auto shared = [&](const std::string& redis, const std::string& on_failure) {
    return must_load(secret + "store: {type: redis, redis: {url: \"redis://r\"" + redis +
                     "}}\npolicies: {p: {rate: 10/1m" + on_failure +
                     "}}\nroutes: [{respond: {}, limits: [{policy: p}]}]\n")
        ->warnings;
  };
  const auto lonely = shared("", "");
  REQUIRE(lonely.size() == 1);
  CHECK(lonely[0].to_string() ==
        "2:29: store.redis: without replicas each instance admits the whole quota while Redis is "
        "down, here of the policy \"p\"; set replicas to the largest number of instances, also if "
        "it is 1");
  CHECK(shared(", replicas: 1", "").empty());
  CHECK(shared("", ", on_failure: deny").empty());
  CHECK(shared(", on_failure: allow", "").empty());

  const auto costly = must_load(
      "identity_secret: 0123456789abcdef0123456789abcdef\n"
      "store: {type: redis, redis: {url: \"redis://r\", replicas: 4}}\n"
      "policies: {p: {rate: 10/1m}}\n"
      "routes: [{respond: {}, limits: [{policy: p, cost: 3}]}]\n");
  REQUIRE(costly->warnings.size() == 1);
  CHECK(costly->warnings[0].to_string() ==
        "4:51: routes[0].limits[0].cost: a cost of 3 cannot pass while Redis is down: this "
        "instance's share of the policy \"p\" is 2");
}

}  // namespace
}  // namespace weir::config
