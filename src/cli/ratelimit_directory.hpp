// The directory with the files of envoyproxy/ratelimit that `weir serve --ratelimit-env` reads.
// Reads directories, but no file.
#pragma once

#include <string>

#include "cli/ratelimit_environment.hpp"

namespace weir::cli {

/// The names .yaml and .yml, as one pattern, because one without a match is an error. It also
/// matches a few other names; envoyproxy/ratelimit reads every file.
inline constexpr const char* limit_file_pattern = "*.y*ml";

/// Returns why no file is read, with the variables to correct; empty if there are files.
std::string missing_files(const RatelimitEnvironment& environment);

/// Returns a warning with the files below the directory that envoyproxy/ratelimit reads, whatever
/// their names are, and Weir does not; empty: there are none.
std::string unread_files(const RatelimitEnvironment& environment);

}  // namespace weir::cli
