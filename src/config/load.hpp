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
#include "config/diagnostic.hpp"
#include "config/secret_file.hpp"

namespace weir::config {

/// What loading reads besides the text; tests inject it.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::filesystem::path directory;  ///< relative `file:` paths start here
  std::size_t cores = 1;            ///< what `workers: auto` becomes
  bool redis_tls = false;           ///< hiredis was built with TLS
};
Environment process_environment(const std::filesystem::path& configuration_file);

using Loaded = Result<std::shared_ptr<const Config>, std::vector<Diagnostic>>;
[[noreturn]] void throw_exception_from_error(const std::vector<Diagnostic>&,
                                             const boost::source_location&);

/// The text of a configuration file, which may be a pipe.
Result<std::string, std::vector<Diagnostic>> read_text(const std::filesystem::path& file,
                                                       Patience patience = for_ever);
Loaded load_text(std::string_view yaml, const Environment& environment);
Loaded load_file(const std::filesystem::path& file);

/// The path of every key the loader knows, in its tables' order: `policies.*.rate`,
/// `routes[].limits[].policy`.
std::vector<std::string> known_keys();

}  // namespace weir::config
