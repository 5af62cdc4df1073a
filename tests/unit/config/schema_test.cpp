// The schema, the reference and the loader's tables have the same keys; every file in config/
// loads.
#include <filesystem>
#include <set>

#include "catch.hpp"
#include "config/load.hpp"
#include "unit/config/known_keys.hpp"

namespace weir::config {
namespace {

const std::filesystem::path directory = std::filesystem::path(WEIR_SOURCE_DIR) / "config";

TEST_CASE("the schema and the loader have the same keys, and the schema describes each") {
  const test::SchemaKeys found;
  const std::set<std::string> known = test::known_keys();
  REQUIRE(known.count("routes[].limits[].policy") == 1);

  std::vector<std::string> only_schema, only_loader;
  std::set_difference(found.keys().begin(), found.keys().end(), known.begin(), known.end(),
                      std::back_inserter(only_schema));
  std::set_difference(known.begin(), known.end(), found.keys().begin(), found.keys().end(),
                      std::back_inserter(only_loader));
  CHECK(only_schema == std::vector<std::string>{});
  CHECK(only_loader == std::vector<std::string>{});
  CHECK(found.undescribed() == std::vector<std::string>{});
}

TEST_CASE("the reference mentions every key") {
  const std::string reference = test::text_of("reference.yaml");
  for (const std::string& path : test::known_keys()) {
    CAPTURE(path);
    const std::string name = path.substr(path.find_last_of('.') + 1);
    // As a key: at the start of a line, of a list item, of a comment or of a flow map.
    const bool is_mentioned = reference.find(" " + name + ":") != std::string::npos ||
                              reference.find("\n" + name + ":") != std::string::npos ||
                              reference.find("{" + name + ":") != std::string::npos;
    CHECK(is_mentioned);
  }
}

TEST_CASE("every file of config/ loads without a warning") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path());
    ++files;
    const Loaded loaded = load_file(entry.path());
    INFO((loaded ? "" : loaded.error()[0].to_string()));
    REQUIRE(loaded.has_value());
    CHECK((*loaded)->presentation.warnings == std::vector<Diagnostic>{});
  }
  CHECK(files >= 3);
}

TEST_CASE("the reference's values are the defaults") {
  const Loaded reference = load_file(directory / "reference.yaml");
  REQUIRE(reference.has_value());
  const Config& written = **reference;
  const auto least =
      load_text("routes: [{respond: {}}]", process_environment(directory / "x")).value();
  CHECK(written.listen[0].address.to_string() == least->listen[0].address.to_string());
  CHECK(written.admin->address.to_string() == least->admin->address.to_string());
  CHECK(written.workers == least->workers);
  CHECK(written.shutdown_timeout == least->shutdown_timeout);
  CHECK(written.proxy.client_address.header_name == least->proxy.client_address.header_name);
  CHECK(written.proxy.client_address.ipv4_prefix == least->proxy.client_address.ipv4_prefix);
  CHECK(written.proxy.client_address.ipv6_prefix == least->proxy.client_address.ipv6_prefix);
  CHECK(written.proxy.downstream.max_connections == least->proxy.downstream.max_connections);
  CHECK(written.proxy.downstream.max_handshakes == least->proxy.downstream.max_handshakes);
  CHECK(written.proxy.downstream.max_head == least->proxy.downstream.max_head);
  CHECK(written.proxy.downstream.max_target == least->proxy.downstream.max_target);
  CHECK(written.proxy.downstream.max_body == least->proxy.downstream.max_body);
  CHECK(written.proxy.downstream.max_drain == least->proxy.downstream.max_drain);
  CHECK(written.proxy.downstream.head_timeout == least->proxy.downstream.head_timeout);
  CHECK(written.proxy.downstream.idle_timeout == least->proxy.downstream.idle_timeout);
  CHECK(written.proxy.downstream.body_timeout == least->proxy.downstream.body_timeout);
  CHECK(written.proxy.downstream.max_age == least->proxy.downstream.max_age);
  CHECK(written.proxy.downstream.per_address == least->proxy.downstream.per_address);
  CHECK_FALSE(written.proxy.downstream.per_address.is_on());
  CHECK(written.proxy.response_fields.standard == least->proxy.response_fields.standard);
  CHECK(written.proxy.response_fields.legacy == least->proxy.response_fields.legacy);
  CHECK(written.proxy.response_fields.retry_after == least->proxy.response_fields.retry_after);
  CHECK(written.proxy.response_fields.retry_after_jitter ==
        least->proxy.response_fields.retry_after_jitter);
  CHECK(written.proxy.grpc == least->proxy.grpc);
  CHECK(written.proxy.tracing.generates == least->proxy.tracing.generates);
  REQUIRE(written.otlp.has_value());
  const options::Otlp otlp;
  CHECK(written.otlp->timeout == otlp.timeout);
  CHECK(written.otlp->spans == otlp.spans);
  CHECK(written.otlp->metrics == otlp.metrics);
  CHECK(written.proxy.tracing.sample == least->proxy.tracing.sample);
  CHECK(written.proxy.tracing.denied == least->proxy.tracing.denied);
  CHECK(written.proxy.tracing.parent == least->proxy.tracing.parent);
  CHECK(written.proxy.response_fields.partition_key == least->proxy.response_fields.partition_key);
  CHECK(written.access_log.format == least->access_log.format);
  CHECK(written.access_log.path == least->access_log.path);
  CHECK(written.access_log.sample == least->access_log.sample);
  CHECK(written.access_log.only == least->access_log.only);
  CHECK(written.memory.max_keys == least->memory.max_keys);
  const RedisStore redis;
  CHECK(written.redis.connection.port == redis.connection.port);
  CHECK(written.redis.connection.database == redis.connection.database);
  CHECK(written.redis.connection.key_prefix == redis.connection.key_prefix);
  CHECK(written.redis.connection.connect_timeout == redis.connection.connect_timeout);
  CHECK(written.redis.connection.timeout == redis.connection.timeout);
  CHECK(written.redis.breaker_failures == redis.breaker_failures);
  CHECK(written.redis.breaker_retry_after == redis.breaker_retry_after);
  CHECK(written.redis.on_failure == redis.on_failure);
  CHECK(written.redis.replicas == redis.replicas);
  CHECK(written.redis.lease_share == redis.lease_share);
  CHECK(written.redis.lease_duration == redis.lease_duration);
  CHECK(written.limiter.policies[0].on_failure == redis.on_failure);
  const options::Upstream upstream;
  CHECK(written.upstreams[0].connect_timeout == upstream.connect_timeout);
  CHECK(written.upstreams[0].response_timeout == upstream.response_timeout);
  CHECK(written.upstreams[0].idle_timeout == upstream.idle_timeout);
  CHECK(written.upstreams[0].retries == upstream.retries);
  CHECK(written.upstreams[0].retry_body == upstream.retry_body);
  CHECK(written.upstreams[0].reuse == upstream.reuse);
  CHECK(written.upstreams[0].protocol == upstream.protocol);
  CHECK(written.upstreams[0].balance == upstream.balance);
  const options::HealthCheck check;
  REQUIRE(written.upstreams[0].health_check.has_value());
  CHECK(written.upstreams[0].health_check->interval == check.interval);
  CHECK(written.upstreams[0].health_check->timeout == check.timeout);
  CHECK(written.upstreams[0].health_check->rise == check.rise);
  CHECK(written.upstreams[0].health_check->fall == check.fall);
}

}  // namespace
}  // namespace weir::config
