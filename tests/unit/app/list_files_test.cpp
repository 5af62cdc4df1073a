#include "app/list_files.hpp"

#include <string>
#include <string_view>

#include "catch.hpp"

namespace weir::app {
namespace {

config::FileStamp stamp(char content) {
  // "-": there is no file.
  return content == '-' ? config::FileStamp{} : config::FileStamp{.inode = 1, .size = content};
}

TEST_CASE("a file is read at the second check after a change") {
  struct Row {
    std::string_view checks;  ///< the content at each check; it was read as "a"
    std::string_view reads;   ///< "r" where the file is read
  };
  const auto row = GENERATE(values<Row>({
      {"aaa", "..."},
      {"abbb", "..r."},
      {"bb", ".r"},
      // A file that is still being written.
      {"bcdddd", "...r.."},
      // Back to the content that was read.
      {"abaa", "...."},
      {"bbaa", ".r.r"},
      // Missing, and there again.
      {"---aa", ".r..r"},
      {"-aa", "..."},
  }));
  CAPTURE(row.checks);
  FileChange change(stamp('a'));
  for (std::size_t i = 0; i < row.checks.size(); ++i) {
    CAPTURE(i);
    const bool is_read = change.note(stamp(row.checks[i]));
    CHECK(is_read == (row.reads[i] == 'r'));
    if (is_read) change.note_read();
  }
}

TEST_CASE("files that are read together are read when none of them changes any more") {
  const auto files = [](std::string_view contents) {
    config::StampedPaths all;
    for (const char content : contents)
      all.emplace_back("file " + std::to_string(all.size()), stamp(content));
    return all;
  };
  Change<config::StampedPaths> change(files("a"));
  CHECK_FALSE(change.note(files("ab")));  // added
  CHECK_FALSE(change.note(files("ac")));  // still written
  CHECK(change.note(files("ac")));
  change.note_read();
  CHECK_FALSE(change.note(files("ac")));
  CHECK_FALSE(change.note(files("a")));  // removed
  CHECK(change.note(files("a")));
}

TEST_CASE("a file that could not be read is read again at each check") {
  FileChange change(stamp('a'));
  CHECK_FALSE(change.note(stamp('b')));
  CHECK(change.note(stamp('b')));
  CHECK(change.note(stamp('b')));
  change.note_read();
  CHECK_FALSE(change.note(stamp('b')));
}

}  // namespace
}  // namespace weir::app
