// The file of a unix socket that this process has bound; the destructor removes it.
//
// Move-only. A file that another process has created in its place since then is kept.
#pragma once

#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace weir {

class SocketFile {
 public:
  SocketFile() = default;
  /// Owns the socket that is at `path` now.
  explicit SocketFile(std::string path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return;
    device_ = found.st_dev;
    inode_ = found.st_ino;
    path_ = std::move(path);
  }
  SocketFile(SocketFile&& other) noexcept { swap(other); }
  SocketFile& operator=(SocketFile&& other) noexcept {
    SocketFile(std::move(other)).swap(*this);
    return *this;
  }
  ~SocketFile() {
    struct stat found {};
    const bool is_own = !path_.empty() && ::lstat(path_.c_str(), &found) == 0 &&
                        found.st_dev == device_ && found.st_ino == inode_;
    if (is_own) ::unlink(path_.c_str());
  }

 private:
  void swap(SocketFile& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
  }

  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace weir
