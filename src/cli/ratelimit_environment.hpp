// Turns the environment of envoyproxy/ratelimit into a configuration, for `weir serve
// --ratelimit-env`. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/expand.hpp"
#include "config/load.hpp"

namespace weir::cli {

struct RatelimitEnvironment {
  std::string yaml;
  std::string directory;              ///< of the files with limits
  bool ignores_hidden = false;        ///< files whose names begin with . are not meant to be read
  std::vector<std::string> warnings;  ///< variables without effect: `NAME: reason`
};

/// Returns the configuration. Pure. Each problem has the name of its variable as its path; texts
/// have no value of a variable that may be a secret.
Result<RatelimitEnvironment, std::vector<config::Diagnostic>> ratelimit_environment(
    const config::Variables& variable);

/// The variable that a problem of this configuration is about, or its path.
std::string_view variable_of(const config::Diagnostic& diagnostic);

}  // namespace weir::cli
