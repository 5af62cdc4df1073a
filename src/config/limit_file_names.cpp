#include "config/limit_file_names.hpp"

#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <set>
#include <system_error>

namespace weir::config {
namespace {

constexpr std::string_view glob_characters = "*?[\\";

/// Escapes the characters that have a meaning in patterns.
std::string glob_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (glob_characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> files_matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_MARK, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string_view path = found.gl_pathv[i];
      if (!path.ends_with('/'))
        files.push_back(std::filesystem::path(path).lexically_normal().string());
    }
  }
  ::globfree(&found);
  std::ranges::sort(files);
  return files;
}

}  // namespace

LimitFileName limit_file_name(const std::string& written, const std::string& path,
                              const std::string& directory) {
  LimitFileName name{.path = path, .pattern = {}};
  if (written.find_first_of(glob_characters) == std::string::npos) return name;
  const bool is_absolute = std::filesystem::path(written).is_absolute();
  name.pattern =
      is_absolute || directory.empty() ? written : glob_escaped(directory) + '/' + written;
  return name;
}

std::vector<std::string> limit_file_paths(const LimitFileName& name) {
  std::error_code error;
  if (name.pattern.empty() || std::filesystem::exists(name.path, error)) return {name.path};
  return files_matching(name.pattern);
}

StampedPaths stamped_paths(const std::vector<LimitFileName>& names) {
  StampedPaths all;
  std::set<std::string> seen;
  for (const LimitFileName& name : names) {
    for (std::string& path : limit_file_paths(name)) {
      if (!seen.insert(path).second) continue;
      const FileStamp stamp = stamp_of(path);
      all.emplace_back(std::move(path), stamp);
    }
  }
  return all;
}

}  // namespace weir::config
