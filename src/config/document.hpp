// Reads YAML text into a tree with the position of every value, bounded in size, depth and number
// of values.
//
// Built from the events of yaml-cpp and not from its nodes: nodes hide duplicate keys. The values
// of an alias count towards the same bound as written values, so that no small file grows into a
// large tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"

namespace weir::config {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  Kind kind = Kind::null;
  Position position;
  std::string text;         ///< scalar, as written and before variables are replaced
  bool is_plain = false;    ///< scalar without quotes, which may mean a number or true
  std::vector<Node> items;  ///< sequence
  std::vector<Entry>
      entries;  ///< map, in the file's order, without the later ones of duplicate keys

  const Entry* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Position position;
  Node value;
};

struct DocumentLimits {
  std::size_t bytes = 16 * 1024 * 1024;
  std::size_t depth = 32;
  std::size_t values = 1'000'000;  ///< an alias counts as all values that it refers to
};

/// Returns the document, or nothing if it could not be read at all. Appends its problems to
/// `problems` in both cases.
std::optional<Node> parse_document(std::string_view yaml, std::vector<Diagnostic>& problems,
                                   const DocumentLimits& limits = {});

}  // namespace weir::config
