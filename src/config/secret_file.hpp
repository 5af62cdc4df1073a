// Secrets kept in files, as container platforms mount them.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace weir::config {

/// How long a file that is a pipe may be silent.
using Patience = std::chrono::milliseconds;
inline constexpr Patience for_ever{-1};

/// The content without one trailing newline. The problem names the path and never the content.
Result<Secret> read_secret_file(const std::filesystem::path& path,
                                Patience patience = std::chrono::seconds(5));

/// All of a file of at most `max_bytes`.
Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes,
                                      Patience patience = for_ever);

}  // namespace weir::config
