// Identifies the content of a file without reading it, to find out whether it has changed.
#pragma once

#include <cstdint>
#include <filesystem>

namespace weir::config {

/// All zero: there is no such file.
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
