#include "log/log_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/path_advice.hpp"

namespace weir::log {
namespace {

// O_NONBLOCK: opening a FIFO without a reader fails at once instead of blocking.
constexpr int appending = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK;

Problem not_opened(const std::string& path, int error) {
  return {"cannot open log file \"" + path + "\" for appending: " +
          std::system_category().message(error) + path_advice(path, error, ::geteuid())};
}

}  // namespace

Result<int> open_log_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), appending | O_CREAT, 0640);
  if (descriptor < 0) return not_opened(path, errno);
  return descriptor;
}

Result<void> check_log_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISFIFO(status.st_mode)) {
      if (::access(path.c_str(), W_OK) != 0) return not_opened(path, errno);
      return {};
    }
    const int descriptor = ::open(path.c_str(), appending);
    if (descriptor < 0) return not_opened(path, errno);
    ::close(descriptor);
    return {};
  }
  if (errno != ENOENT) return not_opened(path, errno);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
    return not_opened(path, errno);
  return {};
}

}  // namespace weir::log
