#include "cli/ratelimit_variables.hpp"

namespace weir::cli {
namespace {

constexpr VariableReason ineffective[] = {
    // Without a counterpart.
    {"USE_STATSD USE_DOG_STATSD STATSD_HOST STATSD_PORT EXTRA_TAGS STATS_FLUSH_INTERVAL "
     "USE_DOG_STATSD_MOGRIFIERS DISABLE_STATS",
     "there is no statsd; the admin server has the metrics at /metrics"},
    {"PROMETHEUS_ADDR PROMETHEUS_PATH PROMETHEUS_MAPPER_YAML "
     "PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS",
     "the admin server has the metrics at /metrics; DEBUG_HOST and DEBUG_PORT are its address"},
    {"LOG_LEVEL LOG_FORMAT", "the log has one level and one form"},
    {"LOCAL_CACHE_SIZE_IN_BYTES", "keys that are denied are always kept in the process"},
    {"EXPIRATION_JITTER_MAX_SECONDS", "keys of Redis end with their windows"},
    {"RUNTIME_WATCH_ROOT", "the files themselves are checked every second"},
    {"MERGE_DOMAIN_CONFIG", "a domain has one file; a second one is refused"},
    {"RESPONSE_DYNAMIC_METADATA", "the metadata of a limit is always sent"},
    {"HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED FORCE_START_WITHOUT_INITIAL_CONFIG",
     "the process does not start without its limits"},
    {"GRPC_MAX_CONNECTION_AGE_GRACE", "requests in progress end by themselves"},
    {"REDIS_POOL_SIZE REDIS_PIPELINE_WINDOW REDIS_PIPELINE_LIMIT REDIS_POOL_ON_EMPTY_BEHAVIOR "
     "REDIS_CLUSTER_PIPELINE_PARALLELISM REDIS_STARTUP_INITIAL_INTERVAL "
     "REDIS_STARTUP_MAX_INTERVAL REDIS_STARTUP_MAX_ELAPSED_TIME",
     "each worker has one connection, on which it does not wait for responses"},
    {"REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "/readyz of the admin server has the state of Redis"},
    {"REDIS_PERSECOND REDIS_PERSECOND_SOCKET_TYPE REDIS_PERSECOND_TYPE REDIS_PERSECOND_URL "
     "REDIS_PERSECOND_AUTH REDIS_PERSECOND_SENTINEL_AUTH REDIS_PERSECOND_TLS "
     "REDIS_PERSECOND_POOL_SIZE REDIS_PERSECOND_PIPELINE_WINDOW REDIS_PERSECOND_PIPELINE_LIMIT "
     "REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM REDIS_PERSECOND_TIMEOUT "
     "REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR",
     "all limits are in the Redis of REDIS_URL"},
    {"MEMCACHE_MAX_IDLE_CONNS MEMCACHE_SRV_REFRESH MEMCACHE_TLS MEMCACHE_TLS_CLIENT_CERT "
     "MEMCACHE_TLS_CLIENT_KEY MEMCACHE_TLS_CACERT MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION",
     "limits cannot be in memcached; use Redis with REDIS_URL"},
    {"CONFIG_GRPC_XDS_NODE_ID CONFIG_GRPC_XDS_NODE_METADATA CONFIG_GRPC_XDS_SERVER_URL "
     "CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS "
     "CONFIG_GRPC_XDS_SERVER_USE_TLS CONFIG_GRPC_XDS_CLIENT_TLS_CERT "
     "CONFIG_GRPC_XDS_CLIENT_TLS_KEY CONFIG_GRPC_XDS_SERVER_TLS_CACERT "
     "CONFIG_GRPC_XDS_SERVER_TLS_SAN XDS_CLIENT_BACKOFF_INITIAL_INTERVAL "
     "XDS_CLIENT_BACKOFF_MAX_INTERVAL XDS_CLIENT_BACKOFF_RANDOM_FACTOR XDS_CLIENT_BACKOFF_JITTER "
     "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES",
     "limits are read from files only; RUNTIME_ROOT names their directory"},
    {"TRACING_ENABLED TRACING_SERVICE_NAME TRACING_SERVICE_NAMESPACE TRACING_SERVICE_INSTANCE_ID "
     "TRACING_EXPORTER_PROTOCOL TRACING_SAMPLING_RATE "
     "OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TIMEOUT "
     "OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_INSECURE OTEL_EXPORTER_OTLP_COMPRESSION "
     "OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE "
     "OTEL_EXPORTER_OTLP_CLIENT_KEY OTEL_EXPORTER_OTLP_TRACES_ENDPOINT "
     "OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_EXPORTER_OTLP_TRACES_TIMEOUT "
     "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_INSECURE "
     "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE "
     "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
     "write a configuration with telemetry: {otlp: {endpoint: URL}}"},
    // Read only beside others.
    {"GRPC_HOST GRPC_PORT", "GRPC_UDS is the address"},
    {"GRPC_SERVER_TLS_CERT GRPC_SERVER_TLS_KEY", "set GRPC_SERVER_USE_TLS=true to use it"},
    {"LIMIT_LIMIT_HEADER LIMIT_REMAINING_HEADER LIMIT_RESET_HEADER",
     "set LIMIT_RESPONSE_HEADERS_ENABLED=true to use it"},
    {"REDIS_SENTINEL_AUTH", "there are no sentinels; set REDIS_TYPE=SENTINEL to use it"},
    {"REDIS_TLS_CACERT REDIS_TLS_CLIENT_CERT REDIS_TLS_CLIENT_KEY",
     "Redis is used without TLS; set REDIS_TLS=true to use it"},
    {"REDIS_SOCKET_TYPE REDIS_TYPE REDIS_AUTH REDIS_TLS REDIS_TIMEOUT CACHE_KEY_PREFIX",
     "limits are counted in this process; set REDIS_URL to use Redis"},
};

constexpr VariableReason flags[] = {
    {"QUOTA_MODE", "there is no mode for all limits; write quota_mode: true in the descriptors"},
    {"REDIS_TLS_SKIP_HOSTNAME_VERIFICATION",
     "the name is always verified; write a configuration with store.redis.tls: {server_name: "
     "NAME}"},
};

constexpr VariableReason texts[] = {
    {"GRPC_CLIENT_TLS_CACERT GRPC_CLIENT_TLS_SAN",
     "a listener does not verify certificates of clients; use a proxy before Weir that does"},
    {"MEMCACHE_HOST_PORT MEMCACHE_SRV", "limits cannot be in memcached; use Redis with REDIS_URL"},
};

}  // namespace

std::span<const VariableReason> ineffective_variables() {
  return ineffective;
}

std::span<const VariableReason> refused_flags() {
  return flags;
}

std::span<const VariableReason> refused_texts() {
  return texts;
}

}  // namespace weir::cli
