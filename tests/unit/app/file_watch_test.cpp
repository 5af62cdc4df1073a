#include "app/file_watch.hpp"

#include <fstream>
#include <unistd.h>
#include <vector>

#include "catch.hpp"

namespace weir::app {
namespace {

namespace fs = std::filesystem;

struct Directory {
  Directory() {
    std::string name = (fs::canonical(fs::temp_directory_path()) / "weir-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Directory() { fs::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  /// The steps below this directory, in the form DIRECTORY:NAME.
  std::vector<std::string> steps(const fs::path& file) const {
    std::vector<std::string> found;
    for (const PathStep& step : steps_to(path / file)) {
      const auto relative = step.directory.lexically_relative(path).string();
      if (!relative.starts_with("..")) found.push_back(relative + ':' + step.name);
    }
    return found;
  }
  void write(const fs::path& file) const { std::ofstream(path / file) << "x"; }

  fs::path path;
};

using Steps = std::vector<std::string>;

TEST_CASE("the path of a file includes its directories and the targets of links") {
  const Directory in;
  fs::create_directories(in.path / "etc/sub");
  in.write("etc/sub/weir.yaml");
  CHECK(in.steps("etc/sub/weir.yaml") == Steps{".:etc", "etc:sub", "etc/sub:weir.yaml"});
  CHECK(in.steps("etc/./sub/../sub/weir.yaml") ==
        Steps{".:etc", "etc:sub", "etc:sub", "etc/sub:weir.yaml"});

  fs::create_symlink("etc/sub", in.path / "current");
  fs::create_symlink("../../current/weir.yaml", in.path / "etc/sub/link.yaml");
  CHECK(in.steps("etc/sub/link.yaml") == Steps{".:etc", "etc:sub", "etc/sub:link.yaml", ".:current",
                                               ".:etc", "etc:sub", "etc/sub:weir.yaml"});
  fs::create_symlink(in.path / "etc", in.path / "absolute");
  CHECK(in.steps("absolute/sub/weir.yaml") ==
        Steps{".:absolute", ".:etc", "etc:sub", "etc/sub:weir.yaml"});
}

TEST_CASE("the path ends where something is missing, and a loop of links is bounded") {
  const Directory in;
  CHECK(in.steps("etc/weir.yaml") == Steps{".:etc"});
  fs::create_directory(in.path / "etc");
  CHECK(in.steps("etc/weir.yaml") == Steps{".:etc", "etc:weir.yaml"});
  fs::create_symlink("nowhere/weir.yaml", in.path / "dangling");
  CHECK(in.steps("dangling") == Steps{".:dangling", ".:nowhere"});
  fs::create_symlink("loop", in.path / "loop");
  CHECK(in.steps("loop").size() < 100);
}

using std::chrono::milliseconds;

TEST_CASE("a burst of events is over after a quiet time, and at most a second after the first") {
  struct Row {
    std::vector<int> events_ms;
    int over_ms;
  };
  const Row rows[] = {
      {{0}, 50},         {{0, 49}, 99},     {{0, 40, 80}, 130},    {{0, 940}, 990},
      {{0, 950}, 1000},  {{0, 951}, 1000},  {{0, 500, 999}, 1000}, {{0, 1000}, 1000},
      {{0, 1500}, 1000}, {{7, 1000}, 1007},
  };
  const EventBurst::Time start{std::chrono::hours(1)};
  for (const Row& row : rows) {
    EventBurst burst;
    EventBurst::Time over;
    for (const int event : row.events_ms)
      over = burst.note(start + milliseconds(event));
    CHECK(over == start + milliseconds(row.over_ms));
  }
}

TEST_CASE("an event after the end begins another burst") {
  const EventBurst::Time start{std::chrono::hours(1)};
  EventBurst burst;
  burst.note(start);
  burst.end();
  CHECK(burst.note(start + milliseconds(980)) == start + milliseconds(1030));
}

TEST_CASE("a file that was removed after it was reported is missing until it is back") {
  const Directory in;
  in.write("weir.yaml");
  boost::asio::io_context io;
  FileWatch watch(io, in.path / "weir.yaml", [] {});
  CHECK_FALSE(watch.note_missing());
  fs::remove(in.path / "weir.yaml");
  CHECK(watch.note_missing());
  fs::create_symlink("nowhere", in.path / "weir.yaml");
  CHECK(watch.note_missing());
  in.write("nowhere");
  CHECK_FALSE(watch.note_missing());
}

}  // namespace
}  // namespace weir::app
