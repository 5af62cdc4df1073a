// A section of the configuration as a table of keys, each with the function that reads it.
//
// The tables also list the keys, so that tests can compare the schema and the reference with them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/cursor.hpp"

namespace weir::config {

using KeyPaths = std::vector<std::string>;

template <class Target>
struct Key {
  std::string_view name;
  void (*read)(const Cursor& in, Target& to);
  /// Appends the paths of the keys below this one; `path` is its own path.
  void (*list)(const std::string& path, KeyPaths& out) = nullptr;
  bool required = false;
};

template <class Target, std::size_t N>
using Table = const Key<Target> (&)[N];

/// Reports keys that are not in `known`; returns those of `known` that were probably meant.
std::vector<std::string_view> report_unknown_keys(const Cursor& in,
                                                  std::span<const std::string_view> known);

/// Return the fix for a key without a value, and for one that is missing; each begins with "; ".
std::string advice_on_missing_value(const Cursor& in, const Entry& entry,
                                    std::span<const std::string_view> known);
std::string advice_on_missing_key(const Cursor& in, std::string_view key);

template <class Target, std::size_t N>
void read_table(const Cursor& in, Table<Target, N> table, Target& to) {
  std::vector<std::string_view> names;
  for (const Key<Target>& key : table)
    names.push_back(key.name);
  if (!in.expect_map("a map of keys")) return;
  const std::vector<std::string_view> misspelt = report_unknown_keys(in, names);
  for (const Key<Target>& key : table) {
    const Entry* entry = in.node().find(key.name);
    if (entry == nullptr) {
      const bool is_missing =
          key.required && std::find(misspelt.begin(), misspelt.end(), key.name) == misspelt.end();
      if (is_missing)
        in.error("the key " + in_quotes(key.name) + " is missing" +
                 advice_on_missing_key(in, key.name));
      continue;
    }
    const Cursor value = in.at(*entry);
    if (entry->value.kind == Node::Kind::null) {
      value.error("has no value" + advice_on_missing_value(in, *entry, names));
    } else {
      key.read(value, to);
    }
  }
}

template <class Target, std::size_t N>
void list_table(Table<Target, N> table, const std::string& path, KeyPaths& out) {
  for (const Key<Target>& key : table) {
    std::string key_path =
        path.empty() ? std::string(key.name) : path + "." + std::string(key.name);
    out.push_back(key_path);
    if (key.list != nullptr) key.list(key_path, out);
  }
}

/// For Key::list: the keys of `Keys` directly below the key, below every entry of its list, or
/// below every name.
template <const auto& Keys>
void list_section(const std::string& path, KeyPaths& out) {
  list_table(Keys, path, out);
}
template <const auto& Keys>
void list_items(const std::string& path, KeyPaths& out) {
  list_table(Keys, path + "[]", out);
}
template <const auto& Keys>
void list_named(const std::string& path, KeyPaths& out) {
  list_table(Keys, path + ".*", out);
}

}  // namespace weir::config
