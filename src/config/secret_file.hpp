// Reads secrets from files, which container platforms mount.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace weir::config {

/// The time that a read from a pipe may wait for data.
using Patience = std::chrono::milliseconds;
inline constexpr Patience for_ever{-1};

/// Returns the content without one trailing newline. Problems contain the path and never the
/// content.
Result<Secret> read_secret_file(const std::filesystem::path& path,
                                Patience patience = std::chrono::seconds(5));

/// Returns the whole content of a file of at most `max_bytes`.
Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes,
                                      Patience patience = for_ever);

/// Returns a problem of these functions with `shown` in place of the path.
std::string with_shown_path(std::string problem, const std::string& path, const std::string& shown);

}  // namespace weir::config
