// YAML text -> checked configuration, or every problem at once.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::config {

/// One mistake, where it is and how to mend it. Lines and columns count from 1; 0 means the whole file.
struct Diagnostic {
  int line = 0;
  int column = 0;
  std::string key_path;  ///< `policies.per_client.rate`
  std::string message;   ///< says what and how; never contains a secret
  /// `LINE:COLUMN: policies.per_client.rate: message`
  std::string to_string() const;
};

/// What loading reads besides the text; tests inject it.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::filesystem::path directory;  ///< relative `file:` paths start here
  std::size_t cores = 1;            ///< what `workers: auto` becomes
};
Environment process_environment(const std::filesystem::path& configuration_file);

using Loaded = Result<std::shared_ptr<const Config>, std::vector<Diagnostic>>;
[[noreturn]] void throw_exception_from_error(const std::vector<Diagnostic>&, const boost::source_location&);

Loaded load_text(std::string_view yaml, const Environment& environment);
Loaded load_file(const std::filesystem::path& file);

}  // namespace weir::config
