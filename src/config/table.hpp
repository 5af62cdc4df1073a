// A section of the configuration as a table of keys, each with the function that reads it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/cursor.hpp"

namespace weir::config {

template <class Target>
struct Key {
  std::string_view name;
  void (*read)(const Cursor& in, Target& to);
  bool required = false;
  std::string_view or_key{};  ///< the key is not required beside this one
  /// Called with the map after the key was read or found absent, before the next key.
  void (*then)(const Cursor& in, Target& to) = nullptr;
};

template <class Target, std::size_t N>
using Table = const Key<Target> (&)[N];

/// Reports keys that are not in `known`; returns those of `known` that were probably meant.
std::vector<std::string_view> report_unknown_keys(const Cursor& in,
                                                  std::span<const std::string_view> known);

/// Returns the fix for a key that is missing; begins with "; ".
std::string hint_on_missing_key(const Cursor& in, std::string_view key);

/// Reads a map by its table. Returns false if the value is no map, which it reports.
template <class Target, std::size_t N>
bool read_table(const Cursor& in, Table<Target, N> table, Target& to) {
  std::vector<std::string_view> names;
  for (const Key<Target>& key : table)
    names.push_back(key.name);
  if (!in.expect_map("a map of keys", names)) return false;
  if (in.environment().on_table) in.environment().on_table(in.path(), names);
  const std::vector<std::string_view> misspelt = report_unknown_keys(in, names);
  for (const Key<Target>& key : table) {
    if (const Entry* const entry = in.node().find(key.name)) {
      const Cursor value = in.at(*entry);
      if (entry->value.kind == Node::Kind::null) {
        value.error(
            "has no value; write one, indent the lines below that belong to it, or remove the key");
      } else {
        key.read(value, to);
      }
    } else if (key.required && !in.has(key.or_key) &&
               std::ranges::find(misspelt, key.name) == misspelt.end()) {
      in.error("the key " + in_quotes(key.name) + " is missing" +
               hint_on_missing_key(in, key.name));
    }
    if (key.then != nullptr) key.then(in, to);
  }
  return true;
}

/// For Key::read: functions that read a value into a member of the target, or into a member of a
/// member: `read::integer<1, 100, &HealthCheck::rise>`.
namespace read {

/// Calls `reader(in, member)`.
template <const auto& reader, auto... members>
constexpr auto with = [](const Cursor& in, auto& to) { reader(in, (to.*....*members)); };

template <auto... members>
constexpr auto text = [](const Cursor& in, auto& to) { read_text(in, (to.*....*members)); };
template <auto... members>
constexpr auto flag = [](const Cursor& in, auto& to) { read_flag(in, (to.*....*members)); };
template <std::int64_t min, std::int64_t max, auto... members>
constexpr auto integer = [](const Cursor& in, auto& to) {
  read_integer_into(in, (to.*....*members), {min, max});
};
template <std::int64_t min, std::int64_t max, auto... members>
constexpr auto size = [](const Cursor& in, auto& to) {
  read_size_into(in, (to.*....*members), {min, max});
};
template <const DurationRange& range, auto... members>
constexpr auto duration =
    [](const Cursor& in, auto& to) { read_duration(in, (to.*....*members), range); };
template <const auto& keys, auto... members>
constexpr auto table = [](const Cursor& in, auto& to) { read_table(in, keys, (to.*....*members)); };

}  // namespace read

}  // namespace weir::config
