#include "cli/new_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weir::cli {
namespace {

Problem last_problem() {
  return {std::generic_category().message(errno)};
}

/// The permissions of a new file, which mkstemp(3) does not give.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Problem{"not a regular file"};
  NewFile file;
  file.path_ = path;
  file.temporary_ = path + ".XXXXXX";
  file.descriptor_ = ::mkstemp(file.temporary_.data());
  if (file.descriptor_ < 0) {
    file.temporary_.clear();
    return last_problem();
  }
  if (::fchmod(file.descriptor_, usual_mode()) != 0) return last_problem();
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> NewFile::complete(std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor_, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return last_problem();
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(descriptor_) != 0) return last_problem();
  if (::close(std::exchange(descriptor_, -1)) != 0) return last_problem();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return last_problem();
  temporary_.clear();
  return {};
}

}  // namespace weir::cli
