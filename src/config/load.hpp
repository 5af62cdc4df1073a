// Loads YAML text: returns the checked configuration, or every problem at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/diagnostic.hpp"
#include "config/files.hpp"

namespace weir::config {

/// The inputs of loading other than the text; tests inject them.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::filesystem::path directory;  ///< base of relative `file:` paths
  std::size_t cores = 1;            ///< the value of `workers: auto`
  bool redis_tls = false;           ///< hiredis was built with TLS
  /// The configuration that the process runs, which keeps its `workers`, `identity_secret` and
  /// `store.type`, and with the latter the other store; nullptr: none.
  const Config* running = nullptr;
  /// False: plan files, address lists and JWK sets in files are not read, as if they were empty.
  bool reads_data_files = true;
  /// The kind of the file, if it is not a configuration: hints are about its keys.
  std::string_view kind{};
  /// Called with the path of each map that has fixed keys, and these keys. For tests that compare
  /// the schema with the loader.
  std::function<void(const std::string& path, std::span<const std::string_view> keys)> on_table{};
};
Environment process_environment(const std::filesystem::path& configuration_file);

using Loaded = Result<std::shared_ptr<const Config>, std::vector<Diagnostic>>;
[[noreturn]] void throw_exception_from_error(const std::vector<Diagnostic>&,
                                             const boost::source_location&);

/// Reads a configuration file, which may be a pipe.
Result<std::string, std::vector<Diagnostic>> read_text(const std::filesystem::path& file,
                                                       Patience patience = for_ever);
Loaded load_text(std::string_view yaml, const Environment& environment);
Loaded load_file(const std::filesystem::path& file);

/// Returns the whole cores that a cgroup allows, at least 1, from the two numbers of its cpu.max
/// (`200000 100000`); nothing for `max` or other text.
std::optional<std::size_t> cores_of_cpu_max(std::string_view cpu_max);

/// Returns the number of cores that this process may be scheduled on, or fewer if its cgroup (v2)
/// allows less time.
std::size_t available_cores();

}  // namespace weir::config
