// The names in `rate_limit_service.files`: files, and patterns of glob(7). Reads directories, but
// no file. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/files.hpp"

namespace weir::config {

/// An item of the list.
struct LimitFileName {
  std::string path;     ///< as it is written, in the directory of the configuration
  std::string pattern;  ///< the same as a pattern; empty: the text has no `*`, `?` or `[`
};

/// `directory`: that of the configuration, which is not part of the pattern.
LimitFileName limit_file_name(const std::string& written, const std::string& path,
                              const std::string& directory);

/// Returns the paths of the files, sorted: those that match a pattern now, without directories and
/// names that begin with ".". A file whose name is the pattern itself comes before its matches.
std::vector<std::string> limit_file_paths(const LimitFileName& name);

/// Paths with the stamps of their files, each path once.
using StampedPaths = std::vector<std::pair<std::string, FileStamp>>;

StampedPaths stamped_paths(const std::vector<LimitFileName>& names);

}  // namespace weir::config
