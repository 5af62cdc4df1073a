// The schema, the reference and the loader's tables have the same keys; every file in config/
// loads.
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "config/load.hpp"
#include "source_directory.hpp"

namespace weir::config {
namespace {

using nlohmann::json;

const std::filesystem::path directory = std::filesystem::path(WEIR_SOURCE_DIR) / "config";

std::string read(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return content.str();
}

/// Collects key paths as known_keys() writes them. A definition inside itself is not entered again.
class SchemaKeys {
 public:
  explicit SchemaKeys(const json& schema) : schema_(schema) { walk(schema, ""); }
  const std::set<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& undescribed() const { return undescribed_; }

 private:
  void walk(const json& node, const std::string& path) {
    if (node.contains("$ref")) follow(node["$ref"].get<std::string>(), path);
    if (node.contains("anyOf")) {
      for (const json& alternative : node["anyOf"])
        walk(alternative, path);
    }
    if (node.contains("items")) walk(node["items"], path + "[]");
    if (node.contains("additionalProperties") && node["additionalProperties"].is_object()) {
      walk(node["additionalProperties"], path + ".*");
    }
    if (!node.contains("properties")) return;
    if (node.value("additionalProperties", json(true)) != json(false))
      undescribed_.push_back(path + " is open");
    for (const auto& [name, value] : node["properties"].items()) {
      const std::string key = path.empty() ? name : path + "." + name;
      keys_.insert(key);
      if (!value.contains("description")) undescribed_.push_back(key);
      walk(value, key);
    }
  }

  void follow(const std::string& reference, const std::string& path) {
    if (!open_.insert(reference).second) return;
    walk(schema_.at(json::json_pointer(reference.substr(1))), path);
    open_.erase(reference);
  }

  const json& schema_;
  std::set<std::string> keys_;
  std::set<std::string> open_;
  std::vector<std::string> undescribed_;
};

TEST_CASE("the schema and the loader have the same keys, and the schema describes each") {
  const json schema = json::parse(read(directory / "weir.schema.json"));
  const SchemaKeys found(schema);
  const std::vector<std::string> listed = known_keys();
  const std::set<std::string> known(listed.begin(), listed.end());
  REQUIRE(known.size() == listed.size());
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
  const std::string reference = read(directory / "reference.yaml");
  for (const std::string& path : known_keys()) {
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
    CHECK((*loaded)->warnings == std::vector<Diagnostic>{});
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
  CHECK(written.client_address.header_name == least->client_address.header_name);
  CHECK(written.client_address.ipv4_prefix == least->client_address.ipv4_prefix);
  CHECK(written.client_address.ipv6_prefix == least->client_address.ipv6_prefix);
  CHECK(written.downstream.max_connections == least->downstream.max_connections);
  CHECK(written.downstream.max_handshakes == least->downstream.max_handshakes);
  CHECK(written.downstream.max_head == least->downstream.max_head);
  CHECK(written.downstream.max_target == least->downstream.max_target);
  CHECK(written.downstream.max_body == least->downstream.max_body);
  CHECK(written.downstream.max_drain == least->downstream.max_drain);
  CHECK(written.downstream.head_timeout == least->downstream.head_timeout);
  CHECK(written.downstream.idle_timeout == least->downstream.idle_timeout);
  CHECK(written.downstream.body_timeout == least->downstream.body_timeout);
  CHECK(written.response_fields.standard == least->response_fields.standard);
  CHECK(written.response_fields.legacy == least->response_fields.legacy);
  CHECK(written.response_fields.retry_after == least->response_fields.retry_after);
  CHECK(written.response_fields.retry_after_jitter == least->response_fields.retry_after_jitter);
  CHECK(written.response_fields.partition_key == least->response_fields.partition_key);
  CHECK(written.access_log.format == least->access_log.format);
  CHECK(written.access_log.path == least->access_log.path);
  CHECK(written.access_log.sample == least->access_log.sample);
  CHECK(written.access_log.only == least->access_log.only);
  CHECK(written.memory.max_keys == least->memory.max_keys);
  const RedisStore redis;
  CHECK(written.redis.port == redis.port);
  CHECK(written.redis.database == redis.database);
  CHECK(written.redis.key_prefix == redis.key_prefix);
  CHECK(written.redis.connect_timeout == redis.connect_timeout);
  CHECK(written.redis.timeout == redis.timeout);
  CHECK(written.redis.breaker_failures == redis.breaker_failures);
  CHECK(written.redis.breaker_retry_after == redis.breaker_retry_after);
  CHECK(written.redis.on_failure == redis.on_failure);
  CHECK(written.redis.replicas == redis.replicas);
  CHECK(written.policies[0].on_failure == redis.on_failure);
  const upstream::Upstream upstream;
  CHECK(written.upstreams[0].connect_timeout == upstream.connect_timeout);
  CHECK(written.upstreams[0].response_timeout == upstream.response_timeout);
  CHECK(written.upstreams[0].idle_timeout == upstream.idle_timeout);
  CHECK(written.upstreams[0].retries == upstream.retries);
  CHECK(written.upstreams[0].retry_body == upstream.retry_body);
  CHECK(written.upstreams[0].reuse == upstream.reuse);
  CHECK(written.upstreams[0].balance == upstream.balance);
  const upstream::HealthCheckOptions check;
  REQUIRE(written.upstreams[0].health_check.has_value());
  CHECK(written.upstreams[0].health_check->interval == check.interval);
  CHECK(written.upstreams[0].health_check->timeout == check.timeout);
  CHECK(written.upstreams[0].health_check->rise == check.rise);
  CHECK(written.upstreams[0].health_check->fall == check.fall);
}

}  // namespace
}  // namespace weir::config
