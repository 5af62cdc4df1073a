// The meaning of scalars in YAML 1.1, as gopkg.in/yaml.v2 reads them: `yes`, `0x10`, `1_000`.
//
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/diagnostic.hpp"
#include "config/document.hpp"

namespace weir::config {

/// A number with a fraction or an exponent, or one that no 64-bit integer holds. Not finite for
/// `.inf` and `.nan`.
struct Fraction {
  double value = 0;
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

/// Nothing, a flag, a number or a text.
using Yaml11Value = std::variant<std::monostate, bool, std::int64_t, Fraction, std::string>;

/// Returns the value of a node that is neither a list nor a map.
Yaml11Value yaml11_value(const Node& node);

/// Replaces each merge key (`<<: *defaults`) by the entries that the map does not have itself.
void expand_merge_keys(Node& node, std::vector<Diagnostic>& problems);

/// Returns the node as JSON text. Appends a problem for a number that JSON does not have.
std::string json_of_yaml11(const Node& node, std::vector<Diagnostic>& problems);

}  // namespace weir::config
