// config/scenario.schema.json has the keys that scenarios have, and describes each.
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "config/key_path.hpp"
#include "source_directory.hpp"
#include "unit/scenario/scenarios.hpp"

namespace weir::scenario::test {
namespace {

using json = nlohmann::json;

struct SchemaKeys {
  SchemaKeys() {
    std::ifstream file(std::filesystem::path(WEIR_SOURCE_DIR) / "config" / "scenario.schema.json");
    schema = json::parse(file);
    walk(schema, "");
  }
  void walk(const json& node, const std::string& path) {
    if (node.contains("$ref"))
      walk(schema.at(json::json_pointer(node["$ref"].get<std::string>().substr(1))), path);
    if (node.contains("items")) walk(node["items"], path + "[]");
    if (!node.contains("properties")) return;
    if (node.value("additionalProperties", json(true)) != json(false))
      undescribed.insert(path + " is open");
    for (const auto& [name, value] : node["properties"].items()) {
      const std::string key = path.empty() ? name : path + '.' + name;
      keys.insert(key);
      if (!value.contains("description")) undescribed.insert(key);
      walk(value, key);
    }
  }

  json schema;
  std::set<std::string> keys;
  std::set<std::string> undescribed;
};

}  // namespace

TEST_CASE("The schema and the reader of scenarios have the same keys") {
  const SchemaKeys schema;
  CHECK(schema.undescribed.empty());
  std::set<std::string> known;
  config::Environment environment = config::process_environment("limits.yaml");
  environment.on_table = [&](const std::string& path, std::span<const std::string_view> keys) {
    const std::string shape = config::shape_of(path);
    for (const std::string_view key : keys)
      known.insert(shape.empty() ? std::string(key) : shape + '.' + std::string(key));
  };
  const auto read =
      read_text("steps: [{request: {}, response: {}, expect: {}}]", "limits.yaml", environment);
  CHECK_FALSE(read.has_value());
  CHECK(known == schema.keys);
}

}  // namespace weir::scenario::test
