// Reads files that a configuration names, of which some are mounted by a container platform.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace weir::config {

/// The time that a read from a pipe may wait for data.
using Patience = std::chrono::milliseconds;
inline constexpr Patience for_ever{-1};
/// For the files of a configuration that is loaded, by the process or by a command.
inline constexpr Patience load_patience = std::chrono::seconds(5);
/// For files that the server reads again: one that turned into a pipe must not stop its thread for
/// long.
inline constexpr Patience reload_patience = std::chrono::seconds(1);

/// Returns the content without one trailing newline. Problems contain the path and never the
/// content.
Result<Secret> read_secret_file(const std::filesystem::path& path,
                                Patience patience = load_patience);

/// Returns the whole content of a file of at most `max_bytes`.
Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes,
                                      Patience patience = for_ever);

/// Identifies the content of a file without reading it. All zero: there is no such file.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< also the owner, the mode or a link
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The stamp of the file that `path` leads to, through links.
FileStamp stamp_of(const std::filesystem::path& path);

}  // namespace weir::config
