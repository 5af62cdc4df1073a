#include "base/socket_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include "catch.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "weir-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Any file will do: a SocketFile compares inodes.
  fs::path make(const char* name) const {
    std::ofstream(path / name) << name;
    return path / name;
  }

  fs::path path;
};

}  // namespace

TEST_CASE("the file of a socket is removed with its owner") {
  const Folder folder;
  const fs::path file = folder.make("a");
  {
    const SocketFile owner(file.string());
    CHECK(fs::exists(file));
  }
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("a file that replaced the socket's is kept") {
  const Folder folder;
  const fs::path file = folder.make("a");
  {
    const SocketFile owner(file.string());
    fs::rename(folder.make("b"), file);
  }
  CHECK(fs::exists(file));
}

TEST_CASE("a file that does not exist when the owner is made is not removed later") {
  const Folder folder;
  {
    const SocketFile owner((folder.path / "a").string());
    folder.make("a");
  }
  CHECK(fs::exists(folder.path / "a"));
}

TEST_CASE("the last owner removes the file") {
  const Folder folder;
  const fs::path file = folder.make("a");
  const fs::path other = folder.make("b");
  std::optional<SocketFile> last;
  {
    SocketFile first(file.string());
    last.emplace(std::move(first));
  }
  CHECK(fs::exists(file));
  *last = SocketFile(other.string());
  CHECK_FALSE(fs::exists(file));
  CHECK(fs::exists(other));
  last.reset();
  CHECK_FALSE(fs::exists(other));
}

}  // namespace weir
