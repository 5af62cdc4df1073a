#include "base/path_advice.hpp"

#include <cerrno>

#include "catch.hpp"

namespace weir {

TEST_CASE("a path that cannot be written has the advice of its error") {
  CHECK(path_advice("/run/weir/a.sock", ENOENT, 7) == "; create the folder \"/run/weir\" first");
  CHECK(path_advice("/etc/passwd/a", ENOTDIR, 7) == "; \"/etc/passwd\" is not a folder");
  CHECK(path_advice("/tmp", EISDIR, 7) == "; it is a folder: write the name of a file in it");
  CHECK(path_advice("/srv/a", EACCES, 7) ==
        "; give the user with the id 7 permission to write there");
  CHECK(path_advice("/a", EROFS, 7) ==
        "; the file system is read-only: mount a folder that can be written to");
  CHECK(path_advice("/a", ENXIO, 7) == "; a pipe needs a process that reads it first");
  CHECK(path_advice("/a", ENOSPC, 7).empty());
}

TEST_CASE("a file that cannot be read has the advice of its error") {
  CHECK(read_advice(ENOENT, 7) == "; check the path, and in a container that the file is mounted");
  CHECK(read_advice(EACCES, 7) ==
        "; make the file and its folders readable for the user with the id 7");
  CHECK(read_advice(EIO, 7).empty());
}

}  // namespace weir
