// The environment of envoyproxy/ratelimit as a configuration.
#include "cli/ratelimit_environment.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "cli/ratelimit_directory.hpp"
#include "config/load.hpp"
#include "unit/cli/environment.hpp"

namespace weir::cli {
namespace {

using test::Map;
using test::problems_of;
using test::variables;

/// A directory with files of limits, removed at the end.
class Runtime {
 public:
  Runtime() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-runtime-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a directory");
    root_ = pattern;
    std::filesystem::create_directories(root_ / "sub" / "limits");
    std::ofstream(root_ / "sub" / "limits" / "a.yaml") << "domain: d\n";
  }
  ~Runtime() { std::filesystem::remove_all(root_); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  void add(const std::string& name, const std::string& text = {}) const {
    const std::filesystem::path path = root_ / "sub" / "limits" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  Map with(Map map) const {
    map.insert({{"RUNTIME_ROOT", root_.string()},
                {"RUNTIME_SUBDIRECTORY", "sub"},
                {"RUNTIME_APPDIRECTORY", "limits"}});
    return map;
  }

 private:
  std::filesystem::path root_;
};

std::shared_ptr<const config::Config> load(const Map& map) {
  const auto made = ratelimit_environment(variables(map));
  if (!made) FAIL(made.error().front().to_string());
  INFO(made->yaml);
  config::Environment environment = config::process_environment("x");
  environment.redis_tls = true;
  const auto loaded = config::load_text(made->yaml, environment);
  if (!loaded) FAIL(loaded.error().front().to_string());
  return *loaded;
}

TEST_CASE("without variables the service has the addresses of envoyproxy/ratelimit") {
  const Runtime runtime;
  const auto config = load(runtime.with({}));
  REQUIRE(config->listen.size() == 2);
  CHECK(config->listen[0].address.to_string() == "0.0.0.0:8081");
  CHECK(config->listen[1].address.to_string() == "0.0.0.0:8080");
  CHECK(config->listen[1].serves == options::Serves::rate_limit_service);
  CHECK(config->store_type == config::StoreType::memory);
  const options::RateLimitService& service = config->rate_limit_service.value();
  CHECK(service.domains.at(0).name == "d");
  CHECK(service.algorithm == rules::Algorithm::fixed_window);
  CHECK(service.charges_each);
  CHECK_FALSE(service.headers.standard);
  CHECK(service.headers.legacy == http::LegacyFields::none);
  const auto made = ratelimit_environment(variables({}));
  CHECK(made->yaml.find("\"/srv/runtime_data/current/config/*.y*ml\"") != std::string::npos);
  REQUIRE(made->warnings.size() == 1);
  CHECK(made->warnings[0].starts_with("REDIS_URL: is not set"));
}

TEST_CASE("addresses, fields and the charge are taken from variables") {
  const Runtime runtime;
  const auto config = load(runtime.with({{"GRPC_HOST", "::1"},
                                         {"GRPC_PORT", "9081"},
                                         {"HOST", "127.0.0.1"},
                                         {"PORT", "9080"},
                                         {"DEBUG_PORT", "6070"},
                                         {"GRPC_MAX_CONNECTION_AGE", "1h30m"},
                                         {"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "true"},
                                         {"LIMIT_RESPONSE_HEADERS_ENABLED", "1"},
                                         {"LIMIT_LIMIT_HEADER", "x-ratelimit-limit"},
                                         {"LIMIT_REMAINING_HEADER", "X-RateLimit-Remaining"},
                                         {"LIMIT_RESET_HEADER", "X-RateLimit-Reset"}}));
  CHECK(config->listen[0].address.to_string() == "[::1]:9081");
  CHECK(config->listen[1].address.to_string() == "127.0.0.1:9080");
  CHECK(config->admin->address.to_string() == "127.0.0.1:6070");
  CHECK(config->proxy.downstream.max_age == std::chrono::minutes(90));
  CHECK_FALSE(config->rate_limit_service->charges_each);
  CHECK(config->rate_limit_service->headers.legacy == http::LegacyFields::x_ratelimit);
  CHECK_FALSE(config->rate_limit_service->headers.standard);
  CHECK(load(runtime.with({{"LIMIT_RESPONSE_HEADERS_ENABLED", "true"}}))
            ->rate_limit_service->headers.legacy == http::LegacyFields::ratelimit);
  CHECK(load(runtime.with({{"GRPC_UDS", "/tmp/rl.sock"}}))->listen[0].address.to_string() ==
        "unix:/tmp/rl.sock");
}

TEST_CASE("Redis is a server, sentinels or a cluster") {
  const Runtime runtime;
  const auto redis = [&](Map map) { return load(runtime.with(std::move(map)))->redis.connection; };
  const auto single = redis({{"REDIS_SOCKET_TYPE", "tcp"},
                             {"REDIS_URL", "redis.internal:6380"},
                             {"REDIS_AUTH", "us er:p@:${x}"},
                             {"CACHE_KEY_PREFIX", "rl:"},
                             {"REDIS_TIMEOUT", "100ms"}});
  CHECK(single.host == "redis.internal");
  CHECK(single.port == 6380);
  CHECK(single.user == "us er");
  CHECK(single.password.reveal() == "p@:${x}");
  CHECK(single.key_prefix == "rl:");
  CHECK(single.timeout == std::chrono::milliseconds(100));
  const auto password =
      redis({{"REDIS_SOCKET_TYPE", "tls"}, {"REDIS_URL", "redis:6379"}, {"REDIS_AUTH", "secret"}});
  CHECK(password.password.reveal() == "secret");
  CHECK(password.secure);
  for (const Map& map : std::vector<Map>{
           {{"REDIS_SOCKET_TYPE", "TLS"}, {"REDIS_URL", "a:1"}, {"REDIS_AUTH", "s"}},
           {{"REDIS_SOCKET_TYPE", "TLS"}, {"REDIS_TYPE", "CLUSTER"}, {"REDIS_URL", "a:1,b:2"}},
           {{"REDIS_SOCKET_TYPE", "Tls"}, {"REDIS_TYPE", "SENTINEL"}, {"REDIS_URL", "main,a:1"}},
           {{"REDIS_TLS", "true"}, {"REDIS_URL", "redis://:s@a:1"}},
           {{"REDIS_SOCKET_TYPE", "TLS"}, {"REDIS_URL", "REDIS://:s@a:1"}},
           {{"REDIS_SOCKET_TYPE", "tcp"}, {"REDIS_URL", "rediss://:s@a:1"}}}) {
    CAPTURE(map.at("REDIS_URL"));
    CHECK(redis(map).secure);
  }
  CHECK_FALSE(redis({{"REDIS_SOCKET_TYPE", "TCP"}, {"REDIS_URL", "a:1"}}).secure);
  CHECK(redis({{"REDIS_SOCKET_TYPE", "UNIX"}, {"REDIS_URL", "/run/a"}}).unix_path == "/run/a");
  CHECK(redis({{"REDIS_URL", "/run/redis.sock"}}).unix_path == "/run/redis.sock");
  CHECK(redis({{"REDIS_URL", "redis://a:1/2"}}).database == 2);
  const auto sentinel = redis({{"REDIS_TYPE", "sentinel"},
                               {"REDIS_URL", "main,a:1,b:2"},
                               {"REDIS_SENTINEL_AUTH", "s3cr3t"}});
  CHECK(sentinel.topology == options::RedisTopology::sentinel);
  CHECK(sentinel.sentinel_master == "main");
  CHECK(sentinel.servers.size() == 2);
  CHECK(sentinel.sentinel_user.empty());
  CHECK(sentinel.sentinel_password.reveal() == "s3cr3t");
  const auto with_user = redis(
      {{"REDIS_TYPE", "SENTINEL"}, {"REDIS_URL", "main,a:1"}, {"REDIS_SENTINEL_AUTH", "ann:p:w"}});
  CHECK(with_user.sentinel_user == "ann");
  CHECK(with_user.sentinel_password.reveal() == "p:w");
  const auto cluster = redis({{"REDIS_TYPE", "CLUSTER"}, {"REDIS_URL", "a:1,b:2,c:3"}});
  CHECK(cluster.topology == options::RedisTopology::cluster);
  CHECK(cluster.servers.size() == 3);
}

TEST_CASE("what is wrong or must not be ignored is refused with the variable") {
  const std::pair<Map, const char*> rows[] = {
      {{{"PORT", "x"}}, "PORT: expected a port, such as 8081, found \"x\""},
      {{{"GRPC_PORT", "65536"}}, "GRPC_PORT: expected a port"},
      {{{"REDIS_TLS", "maybe"}, {"REDIS_URL", "a:1"}}, "REDIS_TLS: expected true or false"},
      {{{"REDIS_SOCKET_TYPE", "udp"}, {"REDIS_TYPE", "CLUSTER"}, {"REDIS_URL", "a:1"}},
       "REDIS_SOCKET_TYPE: expected unix, tcp, tls, found \"udp\""},
      {{{"REDIS_TYPE", "many"}, {"REDIS_URL", "a:1"}},
       "REDIS_TYPE: expected SINGLE, SENTINEL, CLUSTER, found \"many\""},
      {{{"REDIS_TYPE", "SENTINEL"}, {"REDIS_URL", "main"}}, "REDIS_URL: expected MASTER,HOST:PORT"},
      {{{"REDIS_URL", "redis://a"}, {"REDIS_AUTH", "x"}}, "REDIS_AUTH: REDIS_URL is a whole URL"},
      {{{"QUOTA_MODE", "true"}}, "QUOTA_MODE: there is no mode for all limits; write quota_mode"},
      {{{"GRPC_MAX_CONNECTION_AGE", "1d"}},
       "GRPC_MAX_CONNECTION_AGE: expected a duration, such as 1h30m, found \"1d\""},
      {{{"REDIS_URL", "/x"}, {"REDIS_TIMEOUT", "5"}}, "REDIS_TIMEOUT: expected a duration"},
      {{{"BACKEND_TYPE", "memcache"}}, "BACKEND_TYPE: limits are in Redis only"},
      {{{"CONFIG_TYPE", "GRPC_XDS_SOTW"}}, "CONFIG_TYPE: limits are read from files only"},
      {{{"GRPC_CLIENT_TLS_CACERT", "ca.pem"}},
       "GRPC_CLIENT_TLS_CACERT: a listener does not verify"},
      {{{"GRPC_CLIENT_TLS_SAN", "envoy"}}, "GRPC_CLIENT_TLS_SAN: a listener does not verify"},
      {{{"REDIS_URL", "redis:6379"}},
       "REDIS_SOCKET_TYPE: is unix by default, and REDIS_URL is not the whole path of a socket; "
       "write REDIS_SOCKET_TYPE=tcp if it is HOST:PORT"},
      {{{"REDIS_URL", "redis:6379"}, {"REDIS_SOCKET_TYPE", "unix"}},
       "REDIS_SOCKET_TYPE: is unix, and REDIS_URL is not"},
      {{{"REDIS_URL", "a:1,b:2"}},
       "REDIS_TYPE: is SINGLE, and REDIS_URL has several servers; write REDIS_TYPE=SENTINEL"},
      {{{"REDIS_URL", "/run/redis"}, {"REDIS_TLS", "true"}}, "REDIS_TLS: a Unix socket has no TLS"},
      {{{"LIMIT_RESPONSE_HEADERS_ENABLED", "true"}, {"LIMIT_RESET_HEADER", "x-reset"}},
       "LIMIT_LIMIT_HEADER: the fields are RateLimit-Limit"},
  };
  for (const auto& [map, problem] : rows) {
    CAPTURE(problem);
    CHECK(problems_of(map).starts_with(problem));
  }
  CHECK(problems_of({{"GRPC_SERVER_USE_TLS", "true"}}) ==
        "GRPC_SERVER_TLS_CERT: is missing: GRPC_SERVER_USE_TLS needs the file\n"
        "GRPC_SERVER_TLS_KEY: is missing: GRPC_SERVER_USE_TLS needs the file\n");
}

TEST_CASE("with SHADOW_MODE no limit denies") {
  const Runtime runtime;
  runtime.add("a.yaml",
              "domain: d\n"
              "descriptors: [{key: a, rate_limit: {unit: hour, requests_per_unit: 1}}]\n");
  const auto are_shadow = [&](Map map) {
    const auto config = load(runtime.with(std::move(map)));
    std::vector<bool> shadow;
    for (const limiter::Policy& policy : config->limiter.policies)
      shadow.push_back(policy.shadow);
    return shadow;
  };
  CHECK(are_shadow({{"SHADOW_MODE", "true"}}) == std::vector{true, true});  // d.a, stated_limit
  CHECK(are_shadow({{"SHADOW_MODE", "false"}}) == std::vector{false, false});
}

TEST_CASE("a variable without effect is a warning, unless it is off") {
  const auto made = ratelimit_environment(variables({{"REDIS_URL", "/x"},
                                                     {"USE_STATSD", "false"},
                                                     {"LOCAL_CACHE_SIZE_IN_BYTES", "0"},
                                                     {"LOG_LEVEL", "debug"},
                                                     {"PROMETHEUS_PATH", "/m"},
                                                     {"RUNTIME_IGNOREDOTFILES", "true"},
                                                     {"USE_PROMETHEUS", "true"},
                                                     {"NEAR_LIMIT_RATIO", "0.9"}}));
  REQUIRE(made.has_value());
  CHECK(made->warnings ==
        std::vector<std::string>{
            "PROMETHEUS_PATH: has no effect: the admin server has the metrics at /metrics; "
            "DEBUG_HOST and DEBUG_PORT are its address",
            "LOG_LEVEL: has no effect: the log has one level and one form"});
}

TEST_CASE(
    "metrics of envoyproxy/ratelimit and the ratio of a near limit are taken from variables") {
  const Runtime runtime;
  const auto service = [&](Map map) {
    return load(runtime.with(std::move(map)))->rate_limit_service;
  };
  CHECK_FALSE(service({{"USE_PROMETHEUS", "false"}})->reference_metrics);
  CHECK(service({})->near_limit_ratio == 0.8);
  const auto set = service({{"USE_PROMETHEUS", "true"}, {"NEAR_LIMIT_RATIO", "0.95"}});
  CHECK(set->reference_metrics);
  CHECK(set->near_limit_ratio == 0.95);
  for (const char* const wrong : {"1.5", "-1", "80%", "x"}) {
    CAPTURE(wrong);
    const auto made = ratelimit_environment(variables(runtime.with({{"NEAR_LIMIT_RATIO", wrong}})));
    const auto loaded = config::load_text(made.value().yaml, config::process_environment("x"));
    REQUIRE_FALSE(loaded.has_value());
    REQUIRE(loaded.error().size() == 1);
    CHECK(variable_of(loaded.error().front()) == "NEAR_LIMIT_RATIO");
    CHECK(loaded.error().front().message.starts_with("expected a share from 0 to 1"));
  }
}

TEST_CASE("files that end with .yaml or .yml are read, and others are a warning") {
  const Runtime runtime;
  runtime.add("b.yml", "domain: e\n");
  const auto unread = [&](const Map& map) {
    return unread_files(ratelimit_environment(variables(runtime.with(map))).value());
  };
  CHECK(unread({}).empty());
  REQUIRE(load(runtime.with({}))->rate_limit_service->domains.size() == 2);
  runtime.add("..data/c.yaml");
  runtime.add(".d.yaml");
  CHECK(unread({{"RUNTIME_IGNOREDOTFILES", "true"}}).empty());
  runtime.add("f.json");
  runtime.add("inner/g.yaml");
  const std::string warning = unread({});
  CHECK(warning.starts_with("RUNTIME_ROOT: not read below \""));
  CHECK(warning.find("/sub/limits\": \".d.yaml\", \"f.json\", \"inner/g.yaml\"; if they have") !=
        std::string::npos);
  for (const char* const name : {"1", "2", "3", "4"})
    runtime.add(name);
  CHECK(unread({}).find("\"3\", \"4\" and 2 more; ") != std::string::npos);
  CHECK(unread({{"RUNTIME_ROOT", "/nonexistent"}}).empty());
}

TEST_CASE("a directory without files names the variables to correct") {
  const Runtime runtime;
  const auto missing = [&](const Map& map) {
    return missing_files(ratelimit_environment(variables(runtime.with(map))).value());
  };
  CHECK(missing({}).empty());
  CHECK(missing({{"RUNTIME_ROOT", "/nonexistent"}}) ==
        "there is no directory \"/nonexistent/sub/limits\"; mount it, or correct RUNTIME_ROOT, "
        "RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY, whose values are joined by /");
  runtime.add("none/a.json");
  const std::string none = missing({{"RUNTIME_APPDIRECTORY", "limits/none"}});
  CHECK(none.starts_with("no file in \""));
  CHECK(none.find("/none\" ends with .yaml or .yml; put one with limits there, or correct") !=
        std::string::npos);
}

TEST_CASE("problems of the configuration have the name of the variable") {
  const auto named = [](const char* path) {
    return std::string(variable_of(config::diagnostic_at({}, "x", path)));
  };
  CHECK(named("store.redis.url") == "REDIS_URL");
  CHECK(named("rate_limit_service.listen[1].address") == "HOST or PORT");
  CHECK(named("rate_limit_service.files[0]") == "RUNTIME_ROOT");
  CHECK(named("workers") == "workers");
}

}  // namespace
}  // namespace weir::cli
