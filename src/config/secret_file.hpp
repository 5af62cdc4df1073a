// Secrets kept in files, as container platforms mount them.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace weir::config {

/// The content without one trailing newline. The problem names the path and never the content.
Result<Secret> read_secret_file(const std::filesystem::path& path);

/// All of a file of at most `max_bytes`.
Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace weir::config
