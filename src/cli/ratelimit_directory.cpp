#include "cli/ratelimit_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <system_error>
#include <vector>

#include "config/suggest.hpp"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_shown_names = 5;

bool is_limit_file(const std::string& name) {
  return ::fnmatch(limit_file_pattern, name.c_str(), FNM_PERIOD) == 0;
}

/// The files that envoyproxy/ratelimit reads and Weir does not, relative to the directory, sorted.
/// Neither follows links to directories. Directories that begin with . are left out: they are those
/// of mounted volumes.
std::vector<std::string> unread_names(const RatelimitEnvironment& environment) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path directory = environment.directory;
  for (fs::recursive_directory_iterator at(directory, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    const bool is_hidden = name.starts_with('.');
    if (is_hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!at->is_regular_file(ignored) || (is_hidden && environment.ignores_hidden)) continue;
    if (at.depth() == 0 && is_limit_file(name)) continue;
    names.push_back(at->path().lexically_relative(directory).string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string missing_files(const RatelimitEnvironment& environment) {
  const std::string fix =
      "correct RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY, whose values are "
      "joined by /";
  const std::string shown = config::in_quotes(environment.directory);
  std::error_code error;
  if (!fs::is_directory(environment.directory, error))
    return "there is no directory " + shown + "; mount it, or " + fix;
  for (fs::directory_iterator at(environment.directory, error);
       !error && at != fs::directory_iterator(); at.increment(error)) {
    if (is_limit_file(at->path().filename().string())) return {};
  }
  if (error) return "cannot read the directory " + shown + ": " + error.message();
  return "no file in " + shown + " ends with .yaml or .yml; put one with limits there, or " + fix;
}

std::string unread_files(const RatelimitEnvironment& environment) {
  const std::vector<std::string> names = unread_names(environment);
  if (names.empty()) return {};
  std::string text =
      "RUNTIME_ROOT: not read below " + config::in_quotes(environment.directory) + ": ";
  const std::size_t shown = std::min(names.size(), most_shown_names);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + config::in_quotes(names[i]);
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text +
         "; if they have limits, put them in the directory itself, with names that end with .yaml "
         "or .yml and do not begin with .";
}

}  // namespace weir::cli
