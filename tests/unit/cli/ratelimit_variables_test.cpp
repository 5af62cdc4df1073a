// Every environment variable of envoyproxy/ratelimit has an effect, a warning or an error.
#include "cli/ratelimit_variables.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/cli/environment.hpp"

namespace weir::cli {
namespace {

using test::Map;

/// What becomes of a variable.
enum class Fate : std::uint8_t { used, ineffective, refused };

struct Row {
  const char* name;
  const char* value;
  Fate fate;
  Map beside{};  ///< with which it is used
};

/// Every variable of src/settings/settings.go of envoyproxy/ratelimit, commit f2fb157.
const std::vector<Row>& all_variables() {
  using enum Fate;
  static const Map redis{{"REDIS_SOCKET_TYPE", "tcp"}, {"REDIS_URL", "a:1"}};
  static const Map over_tls{{"REDIS_SOCKET_TYPE", "tls"}, {"REDIS_URL", "a:1"}};
  static const Map headers{{"LIMIT_RESPONSE_HEADERS_ENABLED", "true"},
                           {"LIMIT_LIMIT_HEADER", "X-RateLimit-Limit"},
                           {"LIMIT_REMAINING_HEADER", "X-RateLimit-Remaining"},
                           {"LIMIT_RESET_HEADER", "X-RateLimit-Reset"}};
  static const std::vector<Row> rows = {
      {"HOST", "h", used},
      {"PORT", "1", used},
      {"DEBUG_HOST", "h", used},
      {"DEBUG_PORT", "1", used},
      {"GRPC_UDS", "/x", used},
      {"GRPC_HOST", "h", used},
      {"GRPC_HOST", "h", ineffective, {{"GRPC_UDS", "/x"}}},
      {"GRPC_PORT", "1", used},
      {"GRPC_MAX_CONNECTION_AGE", "1h", used},
      {"GRPC_MAX_CONNECTION_AGE_GRACE", "1h", ineffective},
      {"GRPC_SERVER_USE_TLS",
       "true",
       used,
       {{"GRPC_SERVER_TLS_CERT", "c"}, {"GRPC_SERVER_TLS_KEY", "k"}}},
      {"GRPC_SERVER_TLS_CERT",
       "c",
       used,
       {{"GRPC_SERVER_USE_TLS", "true"}, {"GRPC_SERVER_TLS_KEY", "k"}}},
      {"GRPC_SERVER_TLS_CERT", "c", ineffective},
      {"GRPC_SERVER_TLS_KEY",
       "k",
       used,
       {{"GRPC_SERVER_USE_TLS", "true"}, {"GRPC_SERVER_TLS_CERT", "c"}}},
      {"GRPC_CLIENT_TLS_CACERT", "c", refused},
      {"GRPC_CLIENT_TLS_SAN", "s", refused},
      {"LOG_LEVEL", "debug", ineffective},
      {"LOG_FORMAT", "json", ineffective},
      {"CONFIG_TYPE", "GRPC_XDS_SOTW", refused},
      {"FORCE_START_WITHOUT_INITIAL_CONFIG", "true", ineffective},
      {"CONFIG_GRPC_XDS_NODE_ID", "n", ineffective},
      {"CONFIG_GRPC_XDS_NODE_METADATA", "a:b", ineffective},
      {"CONFIG_GRPC_XDS_SERVER_URL", "a:1", ineffective},
      {"CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL", "3s", ineffective},
      {"CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", "a:b", ineffective},
      {"CONFIG_GRPC_XDS_SERVER_USE_TLS", "true", ineffective},
      {"CONFIG_GRPC_XDS_CLIENT_TLS_CERT", "c", ineffective},
      {"CONFIG_GRPC_XDS_CLIENT_TLS_KEY", "k", ineffective},
      {"CONFIG_GRPC_XDS_SERVER_TLS_CACERT", "c", ineffective},
      {"CONFIG_GRPC_XDS_SERVER_TLS_SAN", "s", ineffective},
      {"XDS_CLIENT_BACKOFF_INITIAL_INTERVAL", "1s", ineffective},
      {"XDS_CLIENT_BACKOFF_MAX_INTERVAL", "1s", ineffective},
      {"XDS_CLIENT_BACKOFF_RANDOM_FACTOR", "0.5", ineffective},
      {"XDS_CLIENT_BACKOFF_JITTER", "true", ineffective},
      {"XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES", "1", ineffective},
      {"USE_DOG_STATSD", "true", ineffective},
      {"USE_DOG_STATSD_MOGRIFIERS", "a", ineffective},
      {"DOG_STATSD_MOGRIFIER_TAG_PATTERN",
       "a",
       ineffective,
       {{"USE_DOG_STATSD_MOGRIFIERS", "tag"}}},
      {"DOG_STATSD_MOGRIFIER_B_TAGS", "a:b", ineffective, {{"USE_DOG_STATSD_MOGRIFIERS", "a,b"}}},
      {"USE_STATSD", "true", ineffective},
      {"STATSD_HOST", "h", ineffective},
      {"STATSD_PORT", "1", ineffective},
      {"EXTRA_TAGS", "a:b", ineffective},
      {"STATS_FLUSH_INTERVAL", "1s", ineffective},
      {"DISABLE_STATS", "true", ineffective},
      {"USE_PROMETHEUS", "true", used},
      {"PROMETHEUS_ADDR", ":1", ineffective},
      {"PROMETHEUS_PATH", "/m", ineffective},
      {"PROMETHEUS_MAPPER_YAML", "m", ineffective},
      {"PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS", "true", ineffective},
      {"RUNTIME_ROOT", "/r", used},
      {"RUNTIME_SUBDIRECTORY", "s", used},
      {"RUNTIME_APPDIRECTORY", "a", used},
      {"RUNTIME_IGNOREDOTFILES", "true", used},
      {"RUNTIME_WATCH_ROOT", "true", ineffective},
      {"EXPIRATION_JITTER_MAX_SECONDS", "1", ineffective},
      {"LOCAL_CACHE_SIZE_IN_BYTES", "1", ineffective},
      {"NEAR_LIMIT_RATIO", "0.9", used},
      {"CACHE_KEY_PREFIX", "p", used, redis},
      {"CACHE_KEY_PREFIX", "p", ineffective},
      {"BACKEND_TYPE", "memcache", refused},
      {"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "true", used},
      {"LIMIT_RESPONSE_HEADERS_ENABLED", "true", used},
      {"LIMIT_LIMIT_HEADER", "X-RateLimit-Limit", used, headers},
      {"LIMIT_LIMIT_HEADER", "X", ineffective},
      {"LIMIT_REMAINING_HEADER", "X-RateLimit-Remaining", used, headers},
      {"LIMIT_RESET_HEADER", "X-RateLimit-Reset", used, headers},
      {"HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true", ineffective},
      {"REDIS_SOCKET_TYPE", "tcp", used, redis},
      {"REDIS_TYPE", "CLUSTER", used, redis},
      {"REDIS_URL", "/r", used},
      {"REDIS_POOL_SIZE", "1", ineffective},
      {"REDIS_AUTH", "a", used, redis},
      {"REDIS_AUTH", "a", ineffective},
      {"REDIS_TLS", "true", used, redis},
      {"REDIS_TLS_CLIENT_CERT", "c", used, over_tls},
      {"REDIS_TLS_CLIENT_CERT", "c", ineffective, redis},
      {"REDIS_TLS_CLIENT_KEY", "k", used, over_tls},
      {"REDIS_TLS_CACERT", "c", used, over_tls},
      {"REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", "true", refused},
      {"REDIS_PIPELINE_WINDOW", "1s", ineffective},
      {"REDIS_PIPELINE_LIMIT", "1", ineffective},
      {"REDIS_CLUSTER_PIPELINE_PARALLELISM", "2", ineffective},
      {"REDIS_PERSECOND", "true", ineffective},
      {"REDIS_PERSECOND_SOCKET_TYPE", "tcp", ineffective},
      {"REDIS_PERSECOND_TYPE", "SINGLE", ineffective},
      {"REDIS_PERSECOND_URL", "a:1", ineffective},
      {"REDIS_PERSECOND_POOL_SIZE", "1", ineffective},
      {"REDIS_PERSECOND_AUTH", "a", ineffective},
      {"REDIS_PERSECOND_TLS", "true", ineffective},
      {"REDIS_SENTINEL_AUTH", "a", used, {{"REDIS_TYPE", "SENTINEL"}, {"REDIS_URL", "main,a:1"}}},
      {"REDIS_SENTINEL_AUTH", "a", ineffective, redis},
      {"REDIS_PERSECOND_SENTINEL_AUTH", "a", ineffective},
      {"REDIS_PERSECOND_PIPELINE_WINDOW", "1s", ineffective},
      {"REDIS_PERSECOND_PIPELINE_LIMIT", "1", ineffective},
      {"REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM", "2", ineffective},
      {"REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true", ineffective},
      {"REDIS_TIMEOUT", "1s", used, redis},
      {"REDIS_PERSECOND_TIMEOUT", "1s", ineffective},
      {"REDIS_POOL_ON_EMPTY_BEHAVIOR", "WAIT", ineffective},
      {"REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR", "WAIT", ineffective},
      {"REDIS_STARTUP_INITIAL_INTERVAL", "1s", ineffective},
      {"REDIS_STARTUP_MAX_INTERVAL", "1s", ineffective},
      {"REDIS_STARTUP_MAX_ELAPSED_TIME", "1s", ineffective},
      {"MEMCACHE_HOST_PORT", "a:1", refused},
      {"MEMCACHE_MAX_IDLE_CONNS", "1", ineffective},
      {"MEMCACHE_SRV", "s", refused},
      {"MEMCACHE_SRV_REFRESH", "1s", ineffective},
      {"MEMCACHE_TLS", "true", ineffective},
      {"MEMCACHE_TLS_CLIENT_CERT", "c", ineffective},
      {"MEMCACHE_TLS_CLIENT_KEY", "k", ineffective},
      {"MEMCACHE_TLS_CACERT", "c", ineffective},
      {"MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION", "true", ineffective},
      {"SHADOW_MODE", "true", used},
      {"QUOTA_MODE", "true", refused},
      {"RESPONSE_DYNAMIC_METADATA", "true", ineffective},
      {"MERGE_DOMAIN_CONFIG", "true", ineffective},
      {"TRACING_ENABLED", "true", ineffective},
      {"TRACING_SERVICE_NAME", "s", ineffective},
      {"TRACING_SERVICE_NAMESPACE", "s", ineffective},
      {"TRACING_SERVICE_INSTANCE_ID", "s", ineffective},
      {"TRACING_EXPORTER_PROTOCOL", "http", ineffective},
      {"TRACING_SAMPLING_RATE", "1", ineffective},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", ineffective},
      {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b", ineffective},
  };
  return rows;
}

/// What is made of an environment: the configuration, or the names of its problems.
std::string made_of(const Map& map) {
  const auto made = ratelimit_environment(test::variables(map));
  if (made) return made->yaml + made->directory + (made->ignores_hidden ? " hidden" : "");
  std::string names;
  for (const config::Diagnostic& problem : made.error())
    names += problem.key_path + ' ';
  return names;
}

TEST_CASE("every variable of envoyproxy/ratelimit is used, refused or a warning") {
  for (const auto& [name, value, fate, beside] : all_variables()) {
    CAPTURE(name);
    Map with = beside;
    Map without = beside;
    with[name] = value;
    without.erase(name);
    const auto made = ratelimit_environment(test::variables(with));
    REQUIRE(made.has_value() == (fate != Fate::refused));
    if (!made) {
      CHECK(test::problems_of(with).starts_with(std::string(name) + ": "));
      continue;
    }
    std::size_t warnings = 0;
    for (const std::string& warning : made->warnings)
      warnings += warning.starts_with(std::string(name) + ": has no effect: ") ? 1 : 0;
    CHECK(warnings == (fate == Fate::ineffective ? 1 : 0));
    CHECK((made_of(with) == made_of(without)) == (fate == Fate::ineffective));
  }
}

}  // namespace
}  // namespace weir::cli
