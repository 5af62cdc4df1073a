// The source of the configuration. It is read at the start, and again at each reload.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/load.hpp"

namespace weir::app {

struct LoadedConfig {
  std::shared_ptr<const config::Config> config;
  std::string hash;  ///< SHA-256 of the text, in hexadecimal digits
};

struct Source {
  std::string name;  ///< as problems name it: the file
  /// The time is how long a file that is a pipe may be silent. `running`: see config::Environment.
  std::function<Result<LoadedConfig, std::vector<config::Diagnostic>>(
      config::Patience, const config::Config* running)>
      load;
  /// Reload when this file changes.
  std::optional<std::filesystem::path> watched{};
};

Source file_source(const std::string& file);
/// A text that stays the same. Variables and files that it refers to are read again.
Source text_source(std::string name, std::string yaml);

}  // namespace weir::app
