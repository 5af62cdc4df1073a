// An environment of envoyproxy/ratelimit for tests.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/ratelimit_environment.hpp"

namespace weir::cli::test {

using Map = std::map<std::string, std::string>;

inline config::Variables variables(const Map& map) {
  return [map](const std::string& name) -> std::optional<std::string> {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  };
}

/// The problems, one a line.
inline std::string problems_of(const Map& map) {
  const auto made = ratelimit_environment(variables(map));
  std::string text;
  if (made) return text;
  for (const config::Diagnostic& problem : made.error())
    text += problem.to_string() + '\n';
  return text;
}

}  // namespace weir::cli::test
