#include "config/secret_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/suggest.hpp"

namespace weir::config {

namespace {

constexpr std::size_t largest_secret = 64 * 1024;

Problem can_not_read(const std::filesystem::path& path, const std::string& why) {
  return {"can not read file " + in_quotes(path.string()) + ": " + why};
}

}  // namespace

Result<std::string> read_bounded_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return can_not_read(path, "it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return can_not_read(path, std::generic_category().message(errno));
  std::string content(max_bytes + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad()) return can_not_read(path, std::generic_category().message(errno));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > max_bytes) {
    return can_not_read(path, "larger than " + std::to_string(max_bytes) + " bytes");
  }
  return {boost::system::in_place_value, std::move(content)};
}

Result<Secret> read_secret_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_fifo(path, error)) return can_not_read(path, "it is a pipe");
  Result<std::string> content = read_bounded_file(path, largest_secret);
  if (!content) return content.error();
  if (content->ends_with('\n')) content->pop_back();
  if (content->empty()) return can_not_read(path, "it is empty");
  return Secret(*std::move(content));
}

}  // namespace weir::config
