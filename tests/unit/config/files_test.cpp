#include "config/files.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "catch.hpp"

namespace weir::config {
namespace {

TEST_CASE("a stamp changes with the content, with the file and with a link to it") {
  namespace fs = std::filesystem;
  const fs::path directory =
      fs::temp_directory_path() / ("weir-stamp-" + std::to_string(::getpid()));
  fs::create_directory(directory);
  const fs::path file = directory / "list";
  const auto write = [](const fs::path& path, const char* content) {
    std::ofstream(path) << content;
  };
  CHECK(stamp_of(file) == FileStamp{});
  write(file, "a");
  const FileStamp first = stamp_of(file);
  CHECK(first.size == 1);
  CHECK(stamp_of(file) == first);
  write(file, "ab");
  CHECK_FALSE(stamp_of(file) == first);
  const FileStamp second = stamp_of(file);
  write(directory / "new", "ab");
  fs::rename(directory / "new", file);
  CHECK_FALSE(stamp_of(file) == second);
  fs::create_symlink(file, directory / "link");
  CHECK(stamp_of(directory / "link") == stamp_of(file));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace weir::config
