#include "log/log_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "catch.hpp"

namespace weir::log {
namespace {

class LogFolder {
 public:
  LogFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-log-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~LogFolder() { std::filesystem::remove_all(path_); }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a log file is checked without being created or changed") {
  const LogFolder folder;
  CHECK(check_log_file(folder.file("new.log")).has_value());
  CHECK_FALSE(std::filesystem::exists(folder.file("new.log")));
  std::ofstream(folder.file("old.log")) << "kept";
  CHECK(check_log_file(folder.file("old.log")).has_value());
  CHECK(std::filesystem::file_size(folder.file("old.log")) == 4);
  CHECK(check_log_file("/dev/null").has_value());
}

TEST_CASE("the check finds what opening the file would find") {
  const LogFolder folder;
  std::ofstream(folder.file("file")) << "";
  for (const std::string& path :
       {folder.file("gone/access.log"), folder.file(""), folder.file("file/access.log")}) {
    CAPTURE(path);
    const auto opened = open_log_file(path);
    const auto checked = check_log_file(path);
    REQUIRE(opened.has_error());
    REQUIRE(checked.has_error());
    CHECK(checked.error().message == opened.error().message);
    CHECK(checked.error().message.find("; ") != std::string::npos);
  }
}

}  // namespace weir::log
