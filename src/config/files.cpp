#include "config/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/path_advice.hpp"
#include "config/suggest.hpp"

namespace weir::config {

namespace {

constexpr std::size_t largest_secret = 64 * 1024;
constexpr std::size_t smallest_buffer = largest_secret + 1;

Problem cannot_read(const std::filesystem::path& path, const std::string& why) {
  return {"cannot read file " + in_quotes(path.string()) + ": " + why};
}

struct File {
  explicit File(int opened) : descriptor(opened) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const int descriptor;
};

}  // namespace

Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes,
                                      Patience patience) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return cannot_read(path, "it is a directory");
  const auto refuse = [&path](int number) {
    return cannot_read(path,
                       std::generic_category().message(number) + read_advice(number, ::geteuid()));
  };
  // Opening a FIFO would block.
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0) return refuse(errno);
  std::string content;
  std::size_t size = 0;
  while (size <= max_bytes) {
    if (size == content.size())
      content.resize(std::min(max_bytes + 1, std::max(2 * size, smallest_buffer)));
    pollfd ready{.fd = file.descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count())) == 0)
      return cannot_read(path, "neither data nor its end arrived within " +
                                   std::to_string(patience.count()) + " ms");
    const ssize_t got = ::read(file.descriptor, content.data() + size, content.size() - size);
    if (got == 0) break;
    if (got > 0) size += static_cast<std::size_t>(got);
    if (got < 0 && errno != EAGAIN && errno != EINTR) return refuse(errno);
  }
  if (size > max_bytes) {
    return cannot_read(path, "larger than " + std::to_string(max_bytes) + " bytes");
  }
  content.resize(size);
  return {boost::system::in_place_value, std::move(content)};
}

Result<Secret> read_secret_file(const std::filesystem::path& path, Patience patience) {
  Result<std::string> content = read_bounded_file(path, largest_secret, patience);
  if (!content) return content.error();
  if (content->ends_with('\n')) content->pop_back();
  if (content->empty()) return cannot_read(path, "it is empty");
  return Secret(*std::move(content));
}

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = found.st_size,
          .modified_ns = nanoseconds(found.st_mtim),
          .changed_ns = nanoseconds(found.st_ctim)};
}

}  // namespace weir::config
