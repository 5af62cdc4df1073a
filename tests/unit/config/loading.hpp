// Helpers for the tests of this room: load a text with a given environment, and return its
// problems.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace weir::config::test {

using Variables = std::map<std::string, std::string>;

inline Environment environment(Variables variables = {}, std::filesystem::path directory = {}) {
  return {.variable = [variables = std::move(variables)](
                          const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
          },
          .directory = std::move(directory),
          .cores = 3};
}

/// The problems of a text, one a line; empty if it loads.
inline std::string problems_of(std::string_view yaml, const Environment& in = environment()) {
  const Loaded loaded = load_text(yaml, in);
  std::string out;
  if (loaded) return out;
  for (const Diagnostic& problem : loaded.error())
    out += problem.to_string() + "\n";
  return out;
}

/// For texts that must load; throws with the first problem if one does not.
inline std::shared_ptr<const Config> must_load(std::string_view yaml,
                                               const Environment& in = environment()) {
  return load_text(yaml, in).value();
}

/// The warnings about a text that loads, in their order.
inline std::vector<std::string> warnings_of(std::string_view yaml) {
  std::vector<std::string> all;
  const auto config = must_load(yaml);
  for (const Diagnostic& warning : config->presentation.warnings)
    all.push_back(warning.to_string());
  return all;
}

inline const std::string route_tail = "routes: [{respond: {}}]\n";

}  // namespace weir::config::test
