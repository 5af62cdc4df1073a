// The keys of the schema, and those of the loader's tables: `policies.*.rate`,
// `routes[].limits[].policy`.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/key_path.hpp"
#include "config/load.hpp"
#include "source_directory.hpp"
#include "unit/config/loading.hpp"

namespace weir::config::test {

inline std::string text_of(const std::string& file) {
  std::ostringstream content;
  content << std::ifstream(std::filesystem::path(WEIR_SOURCE_DIR) / "config" / file).rdbuf();
  return content.str();
}

/// The key paths of the schema. A definition inside itself is not entered again.
class SchemaKeys {
 public:
  SchemaKeys() : schema_(nlohmann::json::parse(text_of("weir.schema.json"))) { walk(schema_, ""); }
  const std::set<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& undescribed() const { return undescribed_; }

 private:
  using json = nlohmann::json;

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

  const json schema_;
  std::set<std::string> keys_;
  std::set<std::string> open_;
  std::vector<std::string> undescribed_;
};

/// A value with all keys of `tree`, which has a member for each part of a key path. Where both a
/// list and a map are possible, `prefers_list` decides.
inline nlohmann::json value_of(const nlohmann::json& tree, const nlohmann::json& leaf,
                               bool prefers_list) {
  if (tree.is_null()) return leaf;
  if (tree.contains("[]") && (prefers_list || tree.size() == 1))
    return nlohmann::json::array({value_of(tree["[]"], leaf, prefers_list)});
  nlohmann::json value;
  for (const auto& [name, inner] : tree.items())
    if (name != "[]") value[name == "*" ? "x" : name] = value_of(inner, leaf, prefers_list);
  return value;
}

/// The keys that the loader's tables have. It reads documents with every key of the schema, each
/// with a scalar, a map and lists of them, so that it reaches a table that the schema lacks, too.
inline std::set<std::string> known_keys() {
  std::set<std::string> known;
  Environment in = environment();
  in.reads_data_files = false;
  in.on_table = [&known](const std::string& path, std::span<const std::string_view> keys) {
    const std::string shape = shape_of(path);
    if (shape.find("_of[]") != std::string::npos) return;  // a source inside a source
    for (const std::string_view key : keys)
      known.insert(shape.empty() ? std::string(key) : shape + "." + std::string(key));
  };
  nlohmann::json tree;
  const SchemaKeys schema;
  for (std::string path : schema.keys()) {
    for (std::size_t at = 0; (at = path.find("[]", at)) != std::string::npos; at += 3)
      path.insert(at, ".");
    nlohmann::json* node = &tree;
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');)
      node = &(*node)[part];
  }
  const nlohmann::json map = nlohmann::json::object();
  for (const nlohmann::json& leaf :
       {nlohmann::json("x"), map, nlohmann::json::array({map}), nlohmann::json{{"x", map}}}) {
    for (const bool prefers_list : {false, true})
      load_text(value_of(tree, leaf, prefers_list).dump(), in);
  }
  return known;
}

}  // namespace weir::config::test
